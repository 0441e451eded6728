// How byte-pair vocabularies cut text into words before merging: a list of steps for each value of tokenizer.ggml.pre.
#pragma once

#include <span>
#include <string_view>

namespace inlay::text {

// A step cuts each piece that the step before left into its matches and the gaps between them.
struct Step {
  enum class Rule {
    expression,     // matches of `expression`
    thousands,      // digits at a match's end are grouped by three from the right
    thousands_cut,  // as above, but the matches are not set apart from what stands around them
    powers_of_two   // white space is cut into runs of 512, 256, ... 1 characters; matches are not looked for
  };

  std::string_view expression;  // a Pattern; split.cpp says what %upper% and its like stand for
  Rule rule = Rule::expression;
};

struct PreTokenizer {
  std::string_view flags;
  std::span<const Step> steps;

  // i: a piece that is a token is not merged; b: BOS is added; s: a separator is added;
  // e: pieces are raw UTF-8 with U+2581 for a space; n: there is no BOS unless the file names one.
  bool has(char flag) const { return flags.find(flag) != flags.npos; }
};

// Throws Error{unsupported} for a name that is not known.
PreTokenizer pre_tokenizer_named(std::string_view name);

}  // namespace inlay::text

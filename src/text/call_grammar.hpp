// What a model may write when it has tools: names that exist, and arguments that their schemas allow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/grammar.hpp"
#include "text/chat_output.hpp"

namespace inlay::text {

// What a message may be. Without an answer, any text; and after the mark of a call, where calls may be, the rest of
// one.
struct MessageRules {
  enum class Calls : std::uint8_t { none, some, only };  // some: besides, or instead of, the answer
  Calls calls = Calls::some;
  bool may_reason = false;        // it may begin with reasoning
  bool within_reasoning = false;  // it begins within reasoning
  bool operator==(const MessageRules&) const = default;
};

class CallGrammars {
 public:
  // `tools` is the JSON that the template is given, or empty; `only` names the one tool that may be called, or is
  // empty. Keywords of their schemas that a grammar cannot express are not enforced. Throws Error{argument} for tools
  // that are none, and where there is none of that name.
  CallGrammars(const OutputFormat& format, std::string_view source, std::string_view tools, std::string_view only = {});
  ~CallGrammars();

  // An empty grammar where any text is allowed.
  Grammar message(const MessageRules& rules, const Grammar& answer) const;

 private:
  std::unique_ptr<const struct CallTools> tools_;
};

// The texts in which control tokens of a family have a meaning: the marks of calls and of reasoning.
std::vector<std::string> output_marks(const OutputFormat& format, std::string_view source);

}  // namespace inlay::text

// Reading regular expressions. Groups recurse to a counted depth.
#include "text/regex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "text/grammar_error.hpp"
#include "text/regex_anchors.hpp"
#include "text/regex_classes.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t deepest = 256, longest_pattern = 1u << 18;

class RegexParser {
 public:
  RegexParser(std::string_view pattern, Expressions& expressions, const std::string& where)
      : reader_(pattern, where), expressions_(expressions) {}

  ExpressionId parse() {
    const ExpressionId all = choice();
    if (!reader_.done()) reader_.fail(Flaw::syntax, "has a ')' without a '('");
    return all;
  }

 private:
  ExpressionId choice() {
    if (++depth_ > deepest) reader_.fail(Flaw::limit, fmt::format("nests deeper than {} groups", deepest));
    std::vector<ExpressionId> branches{sequence()};
    while (reader_.take('|')) branches.push_back(sequence());
    --depth_;
    return expressions_.choice(branches);
  }

  ExpressionId sequence() {
    std::vector<ExpressionId> parts;
    while (!reader_.done() && reader_.peek() != '|' && reader_.peek() != ')') parts.push_back(term());
    if (parts.empty()) return expressions_.empty();
    return expressions_.sequence(parts);
  }

  ExpressionId term() {
    ExpressionId part = atom();
    const bool anchor = expressions_[part].form == Form::begin || expressions_[part].form == Form::end;
    const auto times = quantifier();
    if (!times) return part;
    if (anchor) reader_.fail(Flaw::syntax, "repeats an anchor");
    reader_.take('?');  // lazy or greedy: the language is the same
    if (quantifier()) reader_.fail(Flaw::syntax, "has a quantifier after a quantifier");
    return expressions_.repeat(part, times->first, times->second);
  }

  std::optional<std::pair<std::uint32_t, std::uint32_t>> quantifier() {
    if (reader_.take('*')) return {{0, unbounded}};
    if (reader_.take('+')) return {{1, unbounded}};
    if (reader_.take('?')) return {{0, 1}};
    if (reader_.done() || reader_.peek() != '{') return std::nullopt;
    const std::size_t before = reader_.at();
    reader_.next();
    const auto least = reader_.number();
    if (!least) return reader_.back_to(before), std::nullopt;  // a brace that means itself
    auto most = least;
    if (reader_.take(',')) {
      most = reader_.number();
      if (!most) most = unbounded;
    }
    if (!reader_.take('}')) return reader_.back_to(before), std::nullopt;
    if (*most < *least) reader_.fail(Flaw::bad_value, "has a repetition whose limits are the wrong way round");
    return {{*least, *most}};
  }

  ExpressionId atom() {
    const std::size_t before = reader_.at();
    const char32_t code = reader_.next();
    switch (code) {
      case '(': return group();
      case '[': return expressions_.chars(regex_class(reader_));
      case '.': return expressions_.chars(line_ends().complement());
      case '^': return expressions_.anchor(Form::begin);
      case '$': return expressions_.anchor(Form::end);
      case '*':
      case '+':
      case '?': reader_.fail(Flaw::syntax, "has a quantifier with nothing to repeat");
      case '{':
        reader_.back_to(before);
        if (quantifier()) reader_.fail(Flaw::syntax, "has a quantifier with nothing to repeat");
        reader_.next();
        return expressions_.character(code);
      case '\\': return escape();
      default: return expressions_.character(code);
    }
  }

  ExpressionId escape() {
    if (reader_.done()) reader_.fail(Flaw::syntax, "ends in a backslash");
    const char32_t letter = reader_.peek();
    if (letter == 'b' || letter == 'B')
      reader_.fail(Flaw::unsupported, "has a word boundary, which a grammar cannot express");
    if ((letter >= '1' && letter <= '9') || letter == 'k') {
      reader_.fail(Flaw::unsupported, "has a back reference, which a grammar cannot express");
    }
    return expressions_.chars(regex_escape(reader_));
  }

  ExpressionId group() {
    if (reader_.take('?')) group_kind();
    const ExpressionId inner = choice();
    if (!reader_.take(')')) reader_.fail(Flaw::syntax, "has a '(' without a ')'");
    return inner;
  }

  void group_kind() {
    if (reader_.take(':')) return;
    const bool named = reader_.take('<') && !reader_.done() && reader_.peek() != '=' && reader_.peek() != '!';
    if (!named) reader_.fail(Flaw::unsupported, "has a look-around or a flag, which a grammar cannot express");
    while (!reader_.take('>')) {
      if (reader_.done()) reader_.fail(Flaw::syntax, "has a group name without an end");
      reader_.next();
    }
  }

  RegexReader reader_;
  Expressions& expressions_;
  std::size_t depth_ = 0;
};

}  // namespace

ExpressionId parse_regex(std::string_view pattern, Match match, Expressions& expressions, const std::string& where) {
  if (pattern.size() > longest_pattern) {
    refuse(Flaw::limit, fmt::format("the pattern is longer than {} bytes", longest_pattern), where);
  }
  if (!base::is_utf8(pattern)) refuse(Flaw::encoding, "the pattern is not valid UTF-8", where);
  return resolve_anchors(RegexParser(pattern, expressions, where).parse(), match, expressions, where);
}

}  // namespace inlay::text

// Reads GBNF rules into expressions. Groups recurse to a counted depth.
#include "text/gbnf_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t deepest = 256, longest_text = 4u << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_'; }

}  // namespace

GbnfRules GbnfParser::parse() {
  if (text_.size() > longest_text) refuse(Flaw::limit, fmt::format("the rules are longer than {} bytes", longest_text));
  at_ = base::valid_utf8_prefix(text_);
  if (!done()) fail(Flaw::encoding, "the rules are not valid UTF-8");
  at_ = std::min(text_.find('\0'), text_.size());
  if (!done()) fail(Flaw::syntax, "the rules have a NUL character");
  at_ = 0;
  for (skip_space(true); !done(); skip_space(true)) rule();
  for (const GbnfRule& rule : out_.rules) {
    if (rule.body == no_id)
      refuse(Flaw::undefined, fmt::format("rule '{}' is used but not defined", rule.name), place(rule.used_at));
  }
  return std::move(out_);
}

void GbnfParser::rule() {
  const std::uint32_t index = rule_index(name());
  skip_space(false);
  for (const char c : {':', ':', '='}) {
    if (!take(c)) fail(Flaw::syntax, fmt::format("'::=' must follow the name of rule '{}'", out_.rules[index].name));
  }
  skip_space(true);
  out_.rules[index].body = choice(false);
  skip_space(false);
  if (!done() && peek() != '\n' && peek() != '\r') {
    fail(Flaw::syntax, fmt::format("rule '{}' must end with its line", out_.rules[index].name));
  }
}

ExpressionId GbnfParser::choice(bool nested) {
  if (++depth_ > deepest) fail(Flaw::limit, fmt::format("groups nest deeper than {}", deepest));
  std::vector<ExpressionId> branches{sequence(nested)};
  while (more_alternatives(nested)) {
    skip_space(true);
    branches.push_back(sequence(nested));
  }
  --depth_;
  return out_.expressions.choice(branches);
}

// A rule may go on in its next line if that begins with '|'.
bool GbnfParser::more_alternatives(bool nested) {
  const std::size_t before = at_;
  skip_space(true);
  if (take('|')) return true;
  if (!nested) at_ = before;
  return false;
}

ExpressionId GbnfParser::sequence(bool nested) {
  std::vector<ExpressionId> parts;
  for (skip_space(nested); !done(); skip_space(nested)) {
    const char c = peek();
    if (c == '|' || c == ')' || c == '\n' || c == '\r') break;
    parts.push_back(repeated(item()));
  }
  return out_.expressions.sequence(parts);
}

ExpressionId GbnfParser::item() {
  if (take('"')) return literal();
  if (take('[')) return character_class();
  if (take('.')) return out_.expressions.chars(CharSet::any());
  if (take('(')) {
    const ExpressionId inner = choice(true);
    skip_space(true);
    if (!take(')')) fail(Flaw::syntax, "a '(' has no ')'");
    return inner;
  }
  if (is_name(peek())) return out_.expressions.reference(rule_index(name()));
  if (peek() == '<' || peek() == '!') fail(Flaw::unsupported, "tokens by number or name are not supported");
  fail(Flaw::syntax, fmt::format("'{}' has nothing before it or no meaning here", is_name(peek()) ? ' ' : peek()));
}

ExpressionId GbnfParser::repeated(ExpressionId part) {
  for (;;) {
    skip_space(false);
    if (take('*')) {
      part = out_.expressions.repeat(part, 0, unbounded);
    } else if (take('+')) {
      part = out_.expressions.repeat(part, 1, unbounded);
    } else if (take('?')) {
      part = out_.expressions.repeat(part, 0, 1);
    } else if (take('{')) {
      part = braces(part);
    } else {
      return part;
    }
  }
}

ExpressionId GbnfParser::braces(ExpressionId part) {
  skip_space(false);
  const std::uint32_t least = number();
  std::uint32_t most = least;
  skip_space(false);
  if (take(',')) {
    skip_space(false);
    most = is_digit(peek()) ? number() : unbounded;
    skip_space(false);
  }
  if (!take('}')) fail(Flaw::syntax, "a '{' has no '}'");
  if (most < least) fail(Flaw::bad_value, "the limits of a repetition are the wrong way round");
  return out_.expressions.repeat(part, least, most);
}

ExpressionId GbnfParser::literal() {
  std::vector<ExpressionId> parts;
  while (!take('"')) {
    if (done() || peek() == '\n') fail(Flaw::syntax, "a literal has no closing quote");
    parts.push_back(out_.expressions.character(character()));
  }
  return out_.expressions.sequence(parts);
}

ExpressionId GbnfParser::character_class() {
  CharSet set;
  const bool negated = take('^');
  bool any = negated;
  while (!take(']')) {
    if (done() || peek() == '\n') fail(Flaw::syntax, "a '[' has no ']'");
    const char32_t first = character();
    char32_t last = first;
    if (peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
      take('-');
      last = character();
    }
    if (last < first) fail(Flaw::bad_value, "a range of characters is the wrong way round");
    set.add(first, last);
    any = true;
  }
  if (!any) fail(Flaw::syntax, "a character class is empty");
  return out_.expressions.chars(negated ? set.complement() : set);
}

char32_t GbnfParser::character() {
  if (take('\\')) return escape();
  const auto next = base::decode_utf8(text_.substr(at_));
  at_ += next.size;
  return next.code;
}

char32_t GbnfParser::escape() {
  const char letter = peek();
  if (!done()) ++at_;
  switch (letter) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case '\\':
    case '"':
    case '[':
    case ']': return static_cast<char32_t>(letter);
    case 'x':
    case 'u':
    case 'U': break;
    default: fail(Flaw::syntax, "an escape is not known");
  }
  char32_t code = 0;
  for (int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8; digits > 0; --digits, ++at_) {
    const auto value = hex_value(peek());
    if (!value) fail(Flaw::syntax, "an escape has too few hexadecimal digits");
    code = code * 16 + *value;
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) fail(Flaw::syntax, "an escape is not a character");
  return code;
}

std::string GbnfParser::name() {
  const std::size_t begin = at_;
  while (is_name(peek())) ++at_;
  if (at_ == begin) fail(Flaw::syntax, "the name of a rule is missing");
  return std::string(text_.substr(begin, at_ - begin));
}

std::uint32_t GbnfParser::number() {
  if (!is_digit(peek())) fail(Flaw::syntax, "a repetition has no number");
  std::uint64_t value = 0;
  for (; is_digit(peek()); ++at_) {
    value = value * 10 + static_cast<std::uint64_t>(peek() - '0');
    if (value > most_repeats) fail(Flaw::limit, fmt::format("a repetition is larger than {}", most_repeats));
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t GbnfParser::rule_index(const std::string& name) {
  const auto [at, added] = out_.index.try_emplace(name, static_cast<std::uint32_t>(out_.rules.size()));
  if (added) out_.rules.push_back({name.substr(0, 80), at_, no_id});
  return at->second;
}

void GbnfParser::skip_space(bool lines) {
  while (!done()) {
    const char c = peek();
    if (c == '#') {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
      ++at_;
    } else {
      return;
    }
  }
}

bool GbnfParser::take(char c) {
  if (done() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string GbnfParser::place(std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const std::size_t line = before.rfind('\n');
  return fmt::format("{}:{}", std::ranges::count(before, '\n') + 1,
                     line == std::string_view::npos ? at + 1 : at - line);
}

void GbnfParser::fail(Flaw flaw, const std::string& what) const {
  refuse(flaw, fmt::format("{} at {}", what, place(at_)), place(at_));
}

}  // namespace inlay::text

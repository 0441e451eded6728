// Reads GBNF rules into expressions.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/grammar_error.hpp"
#include "text/grammar_expression.hpp"

namespace inlay::text {

struct GbnfRule {
  std::string name;
  std::size_t used_at = 0;  // the byte of its first use
  ExpressionId body = no_id;
};

struct GbnfRules {
  Expressions expressions;
  std::vector<GbnfRule> rules;  // references are indices
  std::unordered_map<std::string, std::uint32_t> index;
};

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : text_(text) {}
  GbnfRules parse();

 private:
  void rule();
  ExpressionId choice(bool nested);
  ExpressionId sequence(bool nested);
  ExpressionId item();
  ExpressionId repeated(ExpressionId part);
  ExpressionId braces(ExpressionId part);
  ExpressionId literal();
  ExpressionId character_class();
  char32_t character();
  char32_t escape();
  std::string name();
  std::uint32_t number();
  std::uint32_t rule_index(const std::string& name);
  void skip_space(bool lines);
  bool more_alternatives(bool nested);
  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool take(char c);
  std::string place(std::size_t at) const;  // line:column
  [[noreturn]] void fail(Flaw flaw, const std::string& what) const;

  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  GbnfRules out_;
};

}  // namespace inlay::text

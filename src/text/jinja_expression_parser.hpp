// Parses expressions.
#pragma once

#include <string_view>

#include "text/jinja_parser_base.hpp"

namespace inlay::text::jinja {

class ExpressionParser : protected ParserBase {
 protected:
  using ParserBase::ParserBase;

  ExpressionRef expression();             // with `a if b else c`
  ExpressionRef expression_without_if();  // where an `if` that follows belongs to the statement
  // One expression, or a tuple where commas follow. `stop` is a name that ends it too.
  ExpressionRef expression_list(bool with_if, std::string_view stop = {});
  Links filters(bool first_is_inline);  // a|b|c without a value before it
  CallArguments call_arguments();
  Expressions sequence(std::string_view closing);

 private:
  ExpressionRef disjunction();
  ExpressionRef conjunction();
  ExpressionRef negation();
  ExpressionRef comparison();
  ExpressionRef sum();
  ExpressionRef concatenation();
  ExpressionRef product();
  ExpressionRef power();
  ExpressionRef unary(bool with_filters);
  ExpressionRef primary();
  ExpressionRef parenthesized();
  ExpressionRef dict_display();
  ExpressionRef text_literal();
  ExpressionRef logical(Operator op, std::string_view word, ExpressionRef (ExpressionParser::*part)());
  ExpressionRef chain(ExpressionRef (ExpressionParser::*part)(),
                      std::span<const std::pair<std::string_view, Operator>> signs);
  bool ends_list(std::string_view stop) const;
  void postfixes(std::vector<Link>& links);
  void filters_and_tests(std::vector<Link>& links);
  void add(std::vector<Link>& links, const Link& link);
  Link subscript();
  void index_or_slice(Link& link);
  Link filter();
  Link test();
  std::string_view dotted_name();
  ExpressionRef with_links(ExpressionRef base, const std::vector<Link>& links, std::uint32_t offset);
};

}  // namespace inlay::text::jinja

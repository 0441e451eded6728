// The grammar of expressions, from the loosest operators to the tightest.
#include "text/jinja_expression_parser.hpp"

#include <algorithm>

namespace inlay::text::jinja {
namespace {

using Sign = std::pair<std::string_view, Operator>;

constexpr Sign sum_signs[] = {{"+", Operator::add}, {"-", Operator::subtract}};
constexpr Sign product_signs[] = {
    {"*", Operator::multiply}, {"/", Operator::divide}, {"//", Operator::floor_divide}, {"%", Operator::modulo}};
constexpr Sign comparison_signs[] = {{"==", Operator::equal},  {"!=", Operator::not_equal},
                                     {"<", Operator::less},    {"<=", Operator::less_equal},
                                     {">", Operator::greater}, {">=", Operator::greater_equal}};

const Sign* find_sign(std::span<const Sign> signs, const Token& token) {
  const auto found =
      std::find_if(signs.begin(), signs.end(), [&](const Sign& sign) { return token.is_symbol(sign.first); });
  return found == signs.end() ? nullptr : &*found;
}

Expression head(Expression::Kind kind, std::uint32_t offset) { return {kind, offset}; }

}  // namespace

ExpressionRef ExpressionParser::expression() {
  const Level level(*this);
  ExpressionRef value = disjunction();
  int chained = 0;
  while (token_.is_name("if")) {
    const std::uint32_t offset = token_.offset;
    if (++chained > 20) fail_here(Trouble::limit, "too many conditions follow one another");
    advance();
    const ExpressionRef condition = disjunction();
    const ExpressionRef otherwise = take_name("else") ? expression() : nullptr;
    value = arena_.make<Conditional>(head(Expression::Kind::conditional, offset), condition, value, otherwise);
  }
  return value;
}

ExpressionRef ExpressionParser::expression_without_if() {
  const Level level(*this);
  return disjunction();
}

bool ExpressionParser::ends_list(std::string_view stop) const {
  return token_.kind == Token::Kind::print_end || token_.kind == Token::Kind::block_end || token_.is_symbol(")") ||
         (!stop.empty() && token_.is_name(stop));
}

ExpressionRef ExpressionParser::expression_list(bool with_if, std::string_view stop) {
  const std::uint32_t offset = token_.offset;
  std::vector<ExpressionRef> items;
  bool is_tuple = false;
  while (!ends_list(stop)) {
    items.push_back(with_if ? expression() : expression_without_if());
    if (!take_symbol(",")) break;
    is_tuple = true;
  }
  if (items.empty()) fail_here(Trouble::syntax, "expected an expression");
  if (!is_tuple) return items[0];
  return arena_.make<ListDisplay>(head(Expression::Kind::list, offset), Type::tuple, arena_.copy(items));
}

ExpressionRef ExpressionParser::logical(Operator op, std::string_view word, ExpressionRef (ExpressionParser::*part)()) {
  const std::uint32_t offset = token_.offset;
  const ExpressionRef first = (this->*part)();
  if (!token_.is_name(word)) return first;
  std::vector<ExpressionRef> parts{first};
  while (take_name(word)) parts.push_back((this->*part)());
  return arena_.make<Logical>(head(Expression::Kind::logical, offset), op, arena_.copy(parts));
}

ExpressionRef ExpressionParser::disjunction() {
  return logical(Operator::logical_or, "or", &ExpressionParser::conjunction);
}
ExpressionRef ExpressionParser::conjunction() {
  return logical(Operator::logical_and, "and", &ExpressionParser::negation);
}

ExpressionRef ExpressionParser::negation() {
  if (!token_.is_name("not")) return comparison();
  const Level level(*this);
  const std::uint32_t offset = token_.offset;
  advance();
  return arena_.make<Unary>(head(Expression::Kind::unary, offset), Operator::logical_not, negation());
}

ExpressionRef ExpressionParser::comparison() {
  const std::uint32_t offset = token_.offset;
  const ExpressionRef first = sum();
  std::vector<Operator> operators;
  std::vector<ExpressionRef> rest;
  while (true) {
    if (const Sign* sign = find_sign(comparison_signs, token_)) {
      operators.push_back(sign->second);
    } else if (token_.is_name("in")) {
      operators.push_back(Operator::in);
    } else if (token_.is_name("not") && following().is_name("in")) {
      advance();
      operators.push_back(Operator::not_in);
    } else {
      break;
    }
    advance();
    rest.push_back(sum());
  }
  if (rest.empty()) return first;
  return arena_.make<OperatorChain>(head(Expression::Kind::comparison, offset), first, arena_.copy(operators),
                                    arena_.copy(rest));
}

ExpressionRef ExpressionParser::chain(ExpressionRef (ExpressionParser::*part)(), std::span<const Sign> signs) {
  const std::uint32_t offset = token_.offset;
  const ExpressionRef first = (this->*part)();
  if (!find_sign(signs, token_)) return first;
  std::vector<Operator> operators;
  std::vector<ExpressionRef> rest;
  while (const Sign* sign = find_sign(signs, token_)) {
    operators.push_back(sign->second);
    advance();
    rest.push_back((this->*part)());
  }
  return arena_.make<OperatorChain>(head(Expression::Kind::arithmetic, offset), first, arena_.copy(operators),
                                    arena_.copy(rest));
}

ExpressionRef ExpressionParser::sum() { return chain(&ExpressionParser::concatenation, sum_signs); }

ExpressionRef ExpressionParser::concatenation() {
  const std::uint32_t offset = token_.offset;
  const ExpressionRef first = product();
  if (!token_.is_symbol("~")) return first;
  std::vector<ExpressionRef> parts{first};
  while (take_symbol("~")) parts.push_back(product());
  return arena_.make<Concatenation>(head(Expression::Kind::concatenation, offset), arena_.copy(parts));
}

ExpressionRef ExpressionParser::product() { return chain(&ExpressionParser::power, product_signs); }

// Jinja groups powers from the left: 2 ** 3 ** 2 is 64.
ExpressionRef ExpressionParser::power() {
  const std::uint32_t offset = token_.offset;
  const ExpressionRef first = unary(true);
  if (!token_.is_symbol("**")) return first;
  std::vector<Operator> operators;
  std::vector<ExpressionRef> rest;
  while (take_symbol("**")) {
    operators.push_back(Operator::power);
    rest.push_back(unary(true));
  }
  return arena_.make<OperatorChain>(head(Expression::Kind::arithmetic, offset), first, arena_.copy(operators),
                                    arena_.copy(rest));
}

ExpressionRef ExpressionParser::unary(bool with_filters) {
  const std::uint32_t offset = token_.offset;
  ExpressionRef value;
  if (token_.is_symbol("-") || token_.is_symbol("+")) {
    const Level level(*this);
    const Operator op = token_.is_symbol("-") ? Operator::negate : Operator::plus;
    advance();
    value = arena_.make<Unary>(head(Expression::Kind::unary, offset), op, unary(false));
  } else {
    value = primary();
  }
  std::vector<Link> links;
  postfixes(links);
  if (with_filters) filters_and_tests(links);
  return with_links(value, links, offset);
}

ExpressionRef ExpressionParser::with_links(ExpressionRef base, const std::vector<Link>& links, std::uint32_t offset) {
  if (links.empty()) return base;
  return arena_.make<Postfix>(head(Expression::Kind::postfix, offset), base, arena_.copy(links));
}

ExpressionRef ExpressionParser::primary() {
  const std::uint32_t offset = token_.offset;
  const auto constant = [&](const Value& value) {
    advance();
    return arena_.make<Literal>(head(Expression::Kind::literal, offset), value);
  };
  switch (token_.kind) {
    case Token::Kind::integer: return constant(Value::of(token_.integer));
    case Token::Kind::real: return constant(Value::of(token_.real));
    case Token::Kind::string: return text_literal();
    case Token::Kind::name: break;
    default:
      if (token_.is_symbol("(")) return parenthesized();
      if (token_.is_symbol("[")) {
        advance();
        return arena_.make<ListDisplay>(head(Expression::Kind::list, offset), Type::list, sequence("]"));
      }
      if (token_.is_symbol("{")) return dict_display();
      fail_here(Trouble::syntax, "expected an expression");
  }
  if (token_.is_name("true") || token_.is_name("True")) return constant(Value::of(true));
  if (token_.is_name("false") || token_.is_name("False")) return constant(Value::of(false));
  if (token_.is_name("none") || token_.is_name("None")) return constant(Value::none());
  const NameId id = name_id(expect_any_name());
  return arena_.make<Name>(head(Expression::Kind::name, offset), id);
}

ExpressionRef ExpressionParser::text_literal() {
  const std::uint32_t offset = token_.offset;
  std::string text;
  for (; token_.kind == Token::Kind::string; advance()) text += token_.decoded;
  return arena_.make<Literal>(head(Expression::Kind::literal, offset), Value::of(literal(text)));
}

ExpressionRef ExpressionParser::parenthesized() {
  const std::uint32_t offset = token_.offset;
  advance();
  ExpressionRef value;
  if (token_.is_symbol(")")) {
    value = arena_.make<ListDisplay>(head(Expression::Kind::list, offset), Type::tuple, Expressions{});
  } else {
    value = expression_list(true);
  }
  expect_symbol(")");
  return value;
}

Expressions ExpressionParser::sequence(std::string_view closing) {
  std::vector<ExpressionRef> items;
  while (!take_symbol(closing)) {
    items.push_back(expression());
    if (!token_.is_symbol(closing)) expect_symbol(",");
  }
  return arena_.copy(items);
}

ExpressionRef ExpressionParser::dict_display() {
  const std::uint32_t offset = token_.offset;
  std::vector<ExpressionRef> keys, values;
  advance();
  while (!take_symbol("}")) {
    keys.push_back(expression());
    expect_symbol(":");
    values.push_back(expression());
    if (!token_.is_symbol("}")) expect_symbol(",");
  }
  return arena_.make<DictDisplay>(head(Expression::Kind::dict, offset), arena_.copy(keys), arena_.copy(values));
}

}  // namespace inlay::text::jinja

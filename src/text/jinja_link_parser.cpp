// What follows a value: attributes, indices, calls, filters and tests.
#include "text/jinja_expression_parser.hpp"

namespace inlay::text::jinja {
namespace {

bool changes_its_object(std::string_view method) {
  const MethodEntry* of_list = find_method(Type::list, method);
  const MethodEntry* of_dict = find_method(Type::dict, method);
  return (of_list && of_list->changes_self) || (of_dict && of_dict->changes_self);
}

}  // namespace

void ExpressionParser::add(std::vector<Link>& links, const Link& link) {
  constexpr std::size_t most_links = 10'000;
  if (links.size() == most_links) fail_here(Trouble::limit, "too many filters and indices follow one another");
  links.push_back(link);
}

void ExpressionParser::postfixes(std::vector<Link>& links) {
  while (true) {
    if (token_.is_symbol(".") || token_.is_symbol("[")) {
      add(links, subscript());
    } else if (token_.is_symbol("(")) {
      Link call{.kind = Link::Kind::call, .offset = token_.offset};
      call.arguments = call_arguments();
      add(links, call);
    } else {
      return;
    }
  }
}

void ExpressionParser::filters_and_tests(std::vector<Link>& links) {
  while (true) {
    if (token_.is_symbol("|")) {
      advance();
      add(links, filter());
    } else if (token_.is_name("is")) {
      add(links, test());
    } else if (token_.is_symbol("(") && !links.empty()) {
      Link call{.kind = Link::Kind::call, .offset = token_.offset};
      call.arguments = call_arguments();
      add(links, call);
    } else {
      return;
    }
  }
}

Link ExpressionParser::subscript() {
  Link link{.kind = Link::Kind::attribute, .offset = token_.offset};
  if (take_symbol(".")) {
    if (token_.kind == Token::Kind::integer) {
      link.kind = Link::Kind::index;
      link.index[0] =
          arena_.make<Literal>(Expression{Expression::Kind::literal, token_.offset}, Value::of(token_.integer));
      advance();
    } else {
      const std::string_view name = expect_any_name();
      link.name = view(name);
      if (token_.is_symbol("(") && changes_its_object(name)) {
        remark("the template calls ", name, "(), which the sandbox of transformers refuses");
      }
    }
    return link;
  }
  advance();
  index_or_slice(link);
  if (token_.is_symbol(",")) fail_here(Trouble::unsupported, "an index of several parts is not offered");
  expect_symbol("]");
  return link;
}

void ExpressionParser::index_or_slice(Link& link) {
  link.kind = Link::Kind::index;
  for (int part = 0; part < 3; ++part) {
    if (!token_.is_symbol(":") && !token_.is_symbol("]")) link.index[part] = expression();
    if (part == 2 || !take_symbol(":")) break;
    link.kind = Link::Kind::slice;
  }
  if (link.kind == Link::Kind::index && !link.index[0]) fail_here(Trouble::syntax, "expected an index");
}

CallArguments ExpressionParser::call_arguments() {
  const Level level(*this);
  CallArguments arguments{};
  std::vector<ExpressionRef> positional;
  std::vector<NamedArgument> named;
  expect_symbol("(");
  while (!take_symbol(")")) {
    if (take_symbol("*")) {
      if (arguments.more_positional || arguments.more_named) {
        fail_here(Trouble::syntax, "arguments stand in a wrong order");
      }
      arguments.more_positional = expression();
    } else if (take_symbol("**")) {
      if (arguments.more_named) fail_here(Trouble::syntax, "arguments stand in a wrong order");
      arguments.more_named = expression();
    } else if (token_.kind == Token::Kind::name && following().is_symbol("=")) {
      if (arguments.more_named) fail_here(Trouble::syntax, "arguments stand in a wrong order");
      const std::string_view name = expect_any_name();
      expect_symbol("=");
      named.push_back({name, expression()});
    } else {
      const bool is_late = arguments.more_positional || arguments.more_named || !named.empty();
      if (is_late) fail_here(Trouble::syntax, "a positional argument follows a named one");
      positional.push_back(expression());
    }
    if (!token_.is_symbol(")")) expect_symbol(",");
  }
  arguments.positional = arena_.copy(positional);
  arguments.named = arena_.copy(named);
  return arguments;
}

std::string_view ExpressionParser::dotted_name() {
  const std::string_view first = expect_any_name();
  if (!token_.is_symbol(".")) return first;
  std::string name(first);
  while (take_symbol(".")) name += "." + std::string(expect_any_name());
  return arena_.copy(std::string_view(name));
}

Link ExpressionParser::filter() {
  Link link{.kind = Link::Kind::filter, .offset = token_.offset};
  link.name = view(dotted_name());
  const std::string_view name = link.name->bytes(arena_);
  link.filter = find_filter(name);
  if (!link.filter) remark("the template uses the filter '", name, "', which is not offered");
  if (name == "from_json") remark("the template uses the filter '", name, "', which transformers does not have");
  if (token_.is_symbol("(")) link.arguments = call_arguments();
  return link;
}

Links ExpressionParser::filters(bool first_is_inline) {
  std::vector<Link> links;
  if (first_is_inline) add(links, filter());
  while (take_symbol("|")) add(links, filter());
  return arena_.copy(links);
}

Link ExpressionParser::test() {
  Link link{.kind = Link::Kind::test, .offset = token_.offset};
  advance();
  link.negated = take_name("not");
  link.name = view(dotted_name());
  const std::string_view name = link.name->bytes(arena_);
  link.test = find_test(name);
  if (!link.test) remark("the template uses the test '", name, "', which is not offered");
  if (token_.is_symbol("(")) {
    link.arguments = call_arguments();
    return link;
  }
  const bool has_argument = token_.kind == Token::Kind::name || token_.kind == Token::Kind::string ||
                            token_.kind == Token::Kind::integer || token_.kind == Token::Kind::real ||
                            token_.is_symbol("[") || token_.is_symbol("{");
  if (!has_argument || token_.is_name("else") || token_.is_name("or") || token_.is_name("and")) return link;
  if (token_.is_name("is")) fail_here(Trouble::syntax, "tests cannot follow one another");
  const Level level(*this);
  const std::uint32_t offset = token_.offset;
  const ExpressionRef base = primary();
  std::vector<Link> links;
  postfixes(links);
  link.arguments.positional = arena_.copy(std::vector<ExpressionRef>{with_links(base, links, offset)});
  return link;
}

}  // namespace inlay::text::jinja

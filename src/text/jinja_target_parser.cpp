// Names may be nested in brackets; how many there are at once is limited.
#include "text/jinja_target_parser.hpp"

#include <algorithm>
#include <array>

namespace inlay::text::jinja {

Target TargetParser::single_target(bool with_attribute) {
  if (take_symbol("(")) {
    const Level level(*this);
    Target inner = target(with_attribute);
    expect_symbol(")");
    return inner;
  }
  static constexpr std::array<std::string_view, 6> constants = {"true", "false", "none", "True", "False", "None"};
  if (std::find(constants.begin(), constants.end(), token_.text) != constants.end()) {
    fail_here(Trouble::syntax, "a constant cannot be set");
  }
  Target single{.id = name_id(expect_any_name())};
  if (with_attribute && take_symbol(".")) {
    single.kind = Target::Kind::attribute;
    single.attribute = view(expect_any_name());
  }
  return single;
}

Target TargetParser::target(bool with_attribute, bool with_tuple) {
  constexpr std::size_t most_targets = 100;
  std::vector<Target> parts;
  bool is_tuple = false;
  do {
    if (is_tuple && token_.kind != Token::Kind::name && !token_.is_symbol("(")) break;
    if (is_tuple && token_.is_name("in")) break;
    if (parts.size() == most_targets) fail_here(Trouble::limit, "too many names are set at once");
    parts.push_back(single_target(with_attribute));
    if (with_tuple && token_.is_symbol(",")) is_tuple = true;
  } while (with_tuple && take_symbol(","));
  if (!is_tuple) return parts[0];
  return {.kind = Target::Kind::tuple, .parts = arena_.copy(parts)};
}

void TargetParser::signature(Macro& macro) {
  std::vector<MacroParameter> parameters;
  expect_symbol("(");
  while (!take_symbol(")")) {
    const NameId id = name_id(expect_any_name());
    const ExpressionRef standard = take_symbol("=") ? expression() : nullptr;
    if (!standard && !parameters.empty() && parameters.back().standard) {
      fail_here(Trouble::syntax, "a parameter without a default follows one with a default");
    }
    parameters.push_back({id, standard});
    if (!token_.is_symbol(")")) expect_symbol(",");
  }
  macro.parameters = arena_.copy(parameters);
}

}  // namespace inlay::text::jinja

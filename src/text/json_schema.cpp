// Turns schemas into rules: one rule for each set of schemas that must hold together.
#include "text/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/json_schema_compiler.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_rules = 1u << 16, most_exclusive = 128, deepest_indent = 64;
constexpr std::string_view value_rule = "a value of the schema";

}  // namespace

namespace {

// "One of" is "any of" where no two branches can hold together. Where two can, each is asked for without the other.
Automaton compiled(const JsonValue& root, Unsupported unsupported, const BareTexts* bare) {
  constexpr int most_rounds = 8;
  std::set<Overlap> overlaps;
  for (int round = 0; round < most_rounds; ++round) {
    const auto known = overlaps.size();
    try {
      Automaton out = SchemaCompiler(root, unsupported, overlaps, bare).compile();
      if (overlaps.size() == known) return out;
    } catch (const Error& error) {
      if (known == 0 || error.fault() != Fault::unsupported) throw;
      break;
    }
  }
  JsonValue list;
  list.order = overlaps.begin()->list;
  const std::string at = pointer_to(list, root);
  refuse(Flaw::unsupported, fmt::format("'oneOf' at {} has branches that are not known to exclude each other", at), at);
}

}  // namespace

Automaton compile_json_schema(std::string_view schema, Unsupported unsupported) {
  return compiled(parse_json(schema), unsupported, nullptr);
}

Automaton compile_bare_texts(std::string_view schema, const BareTexts& how) {
  return compiled(parse_json(schema), Unsupported::ignore, &how);
}

SchemaCompiler::SchemaCompiler(const JsonValue& root, Unsupported unsupported, std::set<Overlap>& overlaps,
                               const BareTexts* bare)
    : root_(root),
      bare_(bare),
      document_(root, unsupported),
      speller_(out_),
      overlaps_(overlaps),
      never_{JsonValue::Kind::boolean, false, unbounded, {}, {}, {}} {}

Automaton SchemaCompiler::compile() {
  // White space as it is usual: none, one space, or a new line with its indent. Bounded, or a model might never go on.
  space_ = out_.add_rule("white space");
  const NodeId exit = out_.rule(space_).exit;
  NodeId indent = out_.add_node();
  byte(out_.rule(space_).entry, ' ', exit);
  byte(out_.rule(space_).entry, '\n', indent);
  byte(after_byte(out_.rule(space_).entry, '\r'), '\n', indent);
  for (std::size_t i = 0; i < deepest_indent; ++i) {
    const NodeId next = out_.add_node();
    for (const char c : {' ', '\t'}) byte(indent, c, next);
    out_.add_empty(indent, exit);
    indent = next;
  }
  out_.add_empty(indent, exit);

  const RuleId root = rule_for({{&root_}});
  while (!waiting_.empty()) {
    const auto [parts, rule] = waiting_.front();
    waiting_.pop();
    emit_rule(*parts, rule);
  }
  out_.finish(root);
  find_overlaps();
  return std::move(out_);
}

void SchemaCompiler::space(NodeId from, NodeId to) {
  out_.add_empty(from, to);
  out_.add_call(from, space_, to);
}

NodeId SchemaCompiler::after_space(NodeId from) {
  const NodeId to = out_.add_node();
  space(from, to);
  return to;
}

NodeId SchemaCompiler::after_byte(NodeId from, char c) {
  const NodeId to = out_.add_node();
  byte(from, c, to);
  return to;
}

RuleId SchemaCompiler::rule_for(const Parts& parts) {
  const auto [at, added] = rules_.try_emplace(document_.take_apart(parts), no_id);
  if (added) {
    if (rules_.size() > most_rules) refuse(Flaw::limit, "the schema has too many combinations");
    at->second = out_.add_rule(std::string(value_rule));
    waiting_.push({&at->first, at->second});
  }
  return at->second;
}

void SchemaCompiler::emit_rule(const Parts& parts, RuleId rule) {
  const NodeId from = out_.rule(rule).entry, to = out_.rule(rule).exit;
  for (const Part::Role role : {Part::Role::any_of, Part::Role::one_of, Part::Role::negated}) {
    const auto choice = std::ranges::find(parts, role, &Part::role);
    if (choice != parts.end()) return emit_alternatives(parts, *choice, from, to);
  }
  const unsigned types = types_of(parts) & (bare_ ? json_type::string : json_type::any);
  if (types == 0 || emit_plain_values(parts, from, to)) return;
  const auto choice = std::ranges::find(parts, Part::Role::one_value, &Part::role);
  if (choice != parts.end()) return emit_alternatives(parts, *choice, from, to);
  if ((types & json_type::null) != 0) out_.add_text(from, "null", to);
  if ((types & json_type::boolean) != 0) emit_boolean(parts, from, to);
  if ((types & (json_type::whole | json_type::fraction)) != 0) {
    NumberFacts facts = number_facts(parts);
    facts.whole_only = (types & json_type::fraction) == 0;
    facts.fraction_only = (types & json_type::whole) == 0;
    emit_number(out_, facts, from, to);
  }
  if ((types & json_type::string) != 0) emit_string(string_facts(parts), from, to);
  if ((types & json_type::array) != 0) emit_list(list_facts(parts), from, to);
  if ((types & json_type::object) != 0) emit_object(object_facts(parts), from, to);
}

// Both, or those that the parts are equal to.
void SchemaCompiler::emit_boolean(const Parts& parts, NodeId from, NodeId to) {
  for (const bool truth : {true, false}) {
    const auto is = [&](const JsonValue& value, bool which) {
      return value.is(JsonValue::Kind::boolean) && value.truth == which;
    };
    const auto differs = [&](const Part& part) {
      if (part.role == Part::Role::equal) return is(*part.value, !truth);
      return part.role == Part::Role::other_values &&
             std::ranges::any_of(part.value->items, [&](const JsonValue& value) { return is(value, truth); });
    };
    if (std::ranges::none_of(parts, differs)) out_.add_text(from, truth ? "true" : "false", to);
  }
}

void SchemaCompiler::emit_alternatives(const Parts& parts, const Part& choice, NodeId from, NodeId to) {
  Parts rest;
  std::ranges::copy_if(parts, std::back_inserter(rest), [&](const Part& part) { return part != choice; });
  const Parts branches = document_.branches(choice);
  const auto with = [&](const Parts& more) {
    Parts all = rest;
    all.insert(all.end(), more.begin(), more.end());
    return rule_for(all);
  };
  const bool exclusive = choice.role == Part::Role::one_of && !document_.lenient();
  if (exclusive && branches.size() > most_exclusive)
    refuse(Flaw::limit, "'oneOf' has too many branches", document_.place(*choice.value));
  for (std::size_t a = 0; a < branches.size(); ++a) {
    Parts alone{branches[a]};
    for (std::size_t b = 0; exclusive && b < branches.size(); ++b) {
      const Overlap pair{choice.value->order, std::max(a, b), std::min(a, b)};
      if (a != b && overlaps_.contains(pair))
        alone.push_back({branches[b].value, Part::Role::negated});
      else if (b < a)
        exclusive_.push_back({with({branches[a], branches[b]}), pair});
    }
    out_.add_call(from, with(alone), to);
  }
}

void SchemaCompiler::find_overlaps() {
  for (const Exclusive& pair : exclusive_)
    if (out_.productive(pair.both)) overlaps_.insert(pair.overlap);
}

}  // namespace inlay::text

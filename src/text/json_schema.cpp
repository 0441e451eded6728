// Turns schemas into rules: one rule for each set of schemas that must hold together.
#include "text/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/grammar_texts.hpp"
#include "text/json_schema_compiler.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_rules = 1u << 16, most_exclusive = 128, deepest_indent = 64;
constexpr std::string_view value_rule = "a value of the schema";

bool equal(const JsonValue& a, const JsonValue& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case JsonValue::Kind::null: return true;
    case JsonValue::Kind::boolean: return a.truth == b.truth;
    case JsonValue::Kind::string: return a.text == b.text;
    case JsonValue::Kind::number: return Decimal::parse(a.text) == Decimal::parse(b.text);
    case JsonValue::Kind::array: return std::ranges::equal(a.items, b.items, equal);
    case JsonValue::Kind::object: break;
  }
  return a.members.size() == b.members.size() && std::ranges::all_of(a.members, [&](const auto& member) {
           const JsonValue* other = b.find(member.first);
           return other && equal(member.second, *other);
         });
}

unsigned type_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null: return json_type::null;
    case JsonValue::Kind::boolean: return json_type::boolean;
    case JsonValue::Kind::string: return json_type::string;
    case JsonValue::Kind::array: return json_type::array;
    case JsonValue::Kind::object: return json_type::object;
    case JsonValue::Kind::number: break;
  }
  const auto decimal = Decimal::parse(value.text);
  return decimal && !decimal->whole() ? json_type::fraction : json_type::whole;
}

std::optional<unsigned> type_named(std::string_view name) {
  if (name == "null") return json_type::null;
  if (name == "boolean") return json_type::boolean;
  if (name == "integer") return json_type::whole;
  if (name == "number") return json_type::whole | json_type::fraction;
  if (name == "string") return json_type::string;
  if (name == "array") return json_type::array;
  if (name == "object") return json_type::object;
  return std::nullopt;
}

// Whether a schema's own keywords say nothing but which types are allowed.
bool only_types(const JsonValue& schema) {
  constexpr std::string_view said[] = {
      "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
      "properties", "patternProperties", "additionalProperties", "required", "propertyNames", "minProperties", "maxProperties",
      "prefixItems", "items", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "dependentRequired",
      "dependentSchemas", "dependencies"};
  return std::ranges::none_of(said, [&](std::string_view keyword) { return schema.find(keyword); });
}

}  // namespace

Automaton compile_json_schema(std::string_view schema, Unsupported unsupported) {
  const JsonValue root = parse_json(schema);
  return SchemaCompiler(root, unsupported).compile();
}

SchemaCompiler::SchemaCompiler(const JsonValue& root, Unsupported unsupported)
    : root_(root), document_(root, unsupported), speller_(out_), never_{JsonValue::Kind::boolean, false, unbounded, {}, {}, {}} {}

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
  check_exclusive();
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
  for (const Part::Role role : {Part::Role::any_of, Part::Role::one_of}) {
    const auto choice = std::ranges::find(parts, role, &Part::role);
    if (choice != parts.end()) return emit_alternatives(parts, *choice, from, to);
  }
  const unsigned types = types_of(parts);
  if (types == 0 || emit_plain_values(parts, from, to)) return;
  const auto choice = std::ranges::find(parts, Part::Role::one_value, &Part::role);
  if (choice != parts.end()) return emit_alternatives(parts, *choice, from, to);
  if ((types & json_type::null) != 0) out_.add_text(from, "null", to);
  if ((types & json_type::boolean) != 0) {
    out_.add_text(from, "true", to);
    out_.add_text(from, "false", to);
  }
  if ((types & (json_type::whole | json_type::fraction)) != 0) {
    NumberFacts facts = number_facts(parts);
    facts.whole_only = (types & json_type::fraction) == 0;
    emit_number(out_, facts, from, to);
  }
  if ((types & json_type::string) != 0) emit_string(string_facts(parts), from, to);
  if ((types & json_type::array) != 0) emit_list(list_facts(parts), from, to);
  if ((types & json_type::object) != 0) emit_object(object_facts(parts), from, to);
}

void SchemaCompiler::emit_alternatives(const Parts& parts, const Part& choice, NodeId from, NodeId to) {
  Parts rest;
  std::ranges::copy_if(parts, std::back_inserter(rest), [&](const Part& part) { return part != choice; });
  const Parts branches = SchemaDocument::branches(choice);
  const auto with = [&](std::initializer_list<Part> more) {
    Parts all = rest;
    all.insert(all.end(), more);
    return rule_for(all);
  };
  for (const Part& branch : branches) out_.add_call(from, with({branch}), to);
  if (choice.role != Part::Role::one_of || document_.lenient()) return;
  if (branches.size() > most_exclusive) refuse(Flaw::limit, "'oneOf' has too many branches", document_.place(*choice.value));
  for (std::size_t a = 0; a < branches.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) exclusive_.push_back({with({branches[a], branches[b]}), choice.value});
  }
}

// "One of" is "any of" where no two branches can hold together.
void SchemaCompiler::check_exclusive() const {
  for (const Exclusive& pair : exclusive_) {
    if (!out_.productive(pair.both)) continue;
    const std::string at = document_.place(*pair.schemas);
    refuse(Flaw::unsupported, fmt::format("'oneOf' at {} has branches that are not known to exclude each other", at), at);
  }
}

// Values that need no more than a look at their type are written out, with common beginnings.
bool SchemaCompiler::emit_plain_values(const Parts& parts, NodeId from, NodeId to) {
  const auto is_list = [](const Part& part) { return part.role == Part::Role::one_value || part.role == Part::Role::equal; };
  const auto first = std::ranges::find_if(parts, is_list);
  if (first == parts.end()) return false;
  unsigned types = json_type::any;
  for (const Part& part : parts) {
    if (is_list(part)) continue;
    if (!only_types(*part.value)) return false;
    types &= types_of(*part.value);
  }
  const auto allowed_by = [](const Part& part, const JsonValue& value) {
    if (part.role == Part::Role::equal) return equal(*part.value, value);
    return std::ranges::any_of(part.value->items, [&](const JsonValue& each) { return equal(each, value); });
  };
  const auto allowed = [&](const JsonValue& value) {
    if ((types & type_of(value)) == 0) return false;
    return std::ranges::all_of(parts, [&](const Part& part) { return part == *first || !is_list(part) || allowed_by(part, value); });
  };
  std::vector<std::string> strings;
  const auto add = [&](const JsonValue& value) {
    if (!allowed(value)) return;
    if (value.is(JsonValue::Kind::string)) strings.push_back(value.text);
    else emit_value(value, from, to);
  };
  if (first->role == Part::Role::equal) {
    add(*first->value);
  } else {
    for (const JsonValue& value : first->value->items) add(value);
  }
  if (strings.empty()) return true;
  const NodeId end = out_.add_node();
  emit_texts(out_, speller_, Spelling::json, std::move(strings), after_byte(from, '"'), end);
  byte(end, '"', to);
  return true;
}

void SchemaCompiler::emit_value(const JsonValue& value, NodeId from, NodeId to) {
  switch (value.kind) {
    case JsonValue::Kind::null: return out_.add_text(from, "null", to);
    case JsonValue::Kind::boolean: return out_.add_text(from, value.truth ? "true" : "false", to);
    case JsonValue::Kind::string: return emit_quoted(value.text, from, to);
    case JsonValue::Kind::array: return emit_list(list_facts({{&value, Part::Role::equal}}), from, to);
    case JsonValue::Kind::object: return emit_object(object_facts({{&value, Part::Role::equal}}), from, to);
    case JsonValue::Kind::number: break;
  }
  NumberFacts facts;
  facts.where = document_.place(value);
  facts.exactly = Decimal::parse(value.text);
  if (!facts.exactly) refuse(Flaw::limit, "a number of the schema is beyond all use", facts.where);
  emit_number(out_, facts, from, to);
}

unsigned SchemaCompiler::types_of(const Parts& parts) const {
  unsigned types = json_type::any;
  for (const Part& part : parts) {
    if (part.role == Part::Role::plain) types &= types_of(*part.value);
    if (part.role == Part::Role::equal) types &= type_of(*part.value);
  }
  return types;
}

unsigned SchemaCompiler::types_of(const JsonValue& schema) const {
  if (schema.is(JsonValue::Kind::boolean)) return 0;
  const JsonValue* type = schema.find("type");
  if (!type) return json_type::any;
  const auto one = [&](const JsonValue& name) {
    const auto bits = name.is(JsonValue::Kind::string) ? type_named(name.text) : std::nullopt;
    if (!bits) document_.fail(Flaw::bad_value, schema, "type", "is not the name of a JSON type");
    return *bits;
  };
  if (!type->is(JsonValue::Kind::array)) return one(*type);
  unsigned types = 0;
  for (const JsonValue& name : type->items) types |= one(name);
  if (types == 0) document_.fail(Flaw::bad_value, schema, "type", "is an empty list");
  return types;
}

NumberFacts SchemaCompiler::number_facts(const Parts& parts) const {
  NumberFacts facts;
  for (const Part& part : parts) {
    if (part.role == Part::Role::plain) tighten(facts, *part.value);
    if (part.role != Part::Role::equal) continue;
    const auto value = Decimal::parse(part.value->text);
    facts.where = document_.place(*part.value);
    if (!value) refuse(Flaw::limit, "a number of the schema is beyond all use", facts.where);
    // Two different values: no number is both, which crossed limits say.
    if (facts.exactly && facts.exactly != value) facts.least = {Decimal(1), false}, facts.most = {Decimal(0), false};
    facts.exactly = value;
  }
  return facts;
}

void SchemaCompiler::tighten(NumberFacts& facts, const JsonValue& schema) const {
  const auto decimal = [&](std::string_view keyword) -> std::optional<Decimal> {
    const JsonValue* number = document_.number(schema, keyword);
    if (!number) return std::nullopt;
    const auto value = Decimal::parse(number->text);
    if (!value) document_.fail(Flaw::limit, schema, keyword, "is beyond all use");
    return value;
  };
  const auto raise = [&](std::string_view keyword, bool exclusive) {
    const auto value = decimal(keyword);
    if (!value) return;
    facts.where = document_.place(schema, keyword);
    if (!facts.least || facts.least->value < *value || (facts.least->value == *value && exclusive)) facts.least = {*value, exclusive};
  };
  const auto lower = [&](std::string_view keyword, bool exclusive) {
    const auto value = decimal(keyword);
    if (!value) return;
    facts.where = document_.place(schema, keyword);
    if (!facts.most || *value < facts.most->value || (facts.most->value == *value && exclusive)) facts.most = {*value, exclusive};
  };
  raise("minimum", false);
  raise("exclusiveMinimum", true);
  lower("maximum", false);
  lower("exclusiveMaximum", true);
  if (const auto multiple = decimal("multipleOf")) {
    if (multiple->zero() || multiple->negative()) document_.fail(Flaw::bad_value, schema, "multipleOf", "must be more than zero");
    facts.multiples.emplace_back(*multiple, document_.place(schema, "multipleOf"));
  }
}

}  // namespace inlay::text

// The types that schemas allow, and the limits of their numbers.
#include <algorithm>

#include "text/json_schema_compiler.hpp"

namespace inlay::text {
namespace {

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

// Types of which a list has all values.
unsigned used_up(const JsonValue& list) {
  const auto has = [&](JsonValue::Kind kind, bool truth) {
    return std::ranges::any_of(list.items, [&](const JsonValue& v) { return v.is(kind) && v.truth == truth; });
  };
  const bool both = has(JsonValue::Kind::boolean, true) && has(JsonValue::Kind::boolean, false);
  return (has(JsonValue::Kind::null, false) ? json_type::null : 0) | (both ? json_type::boolean : 0);
}

}  // namespace

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

unsigned SchemaCompiler::types_of(const Parts& parts) const {
  unsigned types = json_type::any;
  for (const Part& part : parts) {
    switch (part.role) {
      case Part::Role::plain: types &= document_.types_of(*part.value); break;
      case Part::Role::equal: types &= type_of(*part.value); break;
      case Part::Role::other_pattern:
      case Part::Role::other_format: types &= json_type::string; break;
      case Part::Role::fraction: types &= json_type::fraction; break;
      case Part::Role::other_values: types &= ~used_up(*part.value); break;
      default: break;
    }
  }
  return types;
}

unsigned SchemaDocument::types_of(const JsonValue& schema) const {
  if (schema.is(JsonValue::Kind::boolean)) return 0;
  const JsonValue* type = schema.find("type");
  if (!type) return json_type::any;
  const auto one = [&](const JsonValue& name) {
    const auto bits = name.is(JsonValue::Kind::string) ? type_named(name.text) : std::nullopt;
    if (!bits) fail(Flaw::bad_value, schema, "type", "is not the name of a JSON type");
    return *bits;
  };
  if (!type->is(JsonValue::Kind::array)) return one(*type);
  unsigned types = 0;
  for (const JsonValue& name : type->items) types |= one(name);
  if (types == 0) fail(Flaw::bad_value, schema, "type", "is an empty list");
  return types;
}

NumberFacts SchemaCompiler::number_facts(const Parts& parts) const {
  NumberFacts facts;
  for (const Part& part : parts) {
    if (part.role == Part::Role::plain) tighten(facts, *part.value);
    if (part.role == Part::Role::other_values) {
      for (const JsonValue& value : part.value->items)
        if (const auto number = value.is(JsonValue::Kind::number) ? Decimal::parse(value.text) : std::nullopt)
          facts.others.push_back(*number);
    }
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
    auto value = Decimal::parse(number->text);
    if (!value) document_.fail(Flaw::limit, schema, keyword, "is beyond all use");
    return value;
  };
  const auto raise = [&](std::string_view keyword, bool exclusive) {
    const auto value = decimal(keyword);
    if (!value) return;
    facts.where = document_.place(schema, keyword);
    if (!facts.least || facts.least->value < *value || (facts.least->value == *value && exclusive))
      facts.least = {*value, exclusive};
  };
  const auto lower = [&](std::string_view keyword, bool exclusive) {
    const auto value = decimal(keyword);
    if (!value) return;
    facts.where = document_.place(schema, keyword);
    if (!facts.most || *value < facts.most->value || (facts.most->value == *value && exclusive))
      facts.most = {*value, exclusive};
  };
  raise("minimum", false);
  raise("exclusiveMinimum", true);
  lower("maximum", false);
  lower("exclusiveMaximum", true);
  if (const auto multiple = decimal("multipleOf")) {
    if (multiple->zero() || multiple->negative())
      document_.fail(Flaw::bad_value, schema, "multipleOf", "must be more than zero");
    facts.multiples.emplace_back(*multiple, document_.place(schema, "multipleOf"));
  }
}

}  // namespace inlay::text

// The types that schemas allow, and the limits of their numbers.
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

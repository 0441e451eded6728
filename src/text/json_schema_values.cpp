// Values that a schema names one by one.
#include <algorithm>

#include "text/grammar_texts.hpp"
#include "text/json_schema_compiler.hpp"

namespace inlay::text {
namespace {

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
           const JsonValue* other = b.find(member.name);
           return other && equal(member.value, *other);
         });
}

// Whether a schema's own keywords say nothing but which types are allowed.
bool only_types(const JsonValue& schema) {
  constexpr std::string_view said[] = {"minLength",        "maxLength",     "pattern",           "format",
                                       "minimum",          "maximum",       "exclusiveMinimum",  "exclusiveMaximum",
                                       "multipleOf",       "properties",    "patternProperties", "additionalProperties",
                                       "required",         "propertyNames", "minProperties",     "maxProperties",
                                       "prefixItems",      "items",         "additionalItems",   "minItems",
                                       "maxItems",         "uniqueItems",   "contains",          "dependentRequired",
                                       "dependentSchemas", "dependencies"};
  return std::ranges::none_of(said, [&](std::string_view keyword) { return schema.find(keyword); });
}

}  // namespace

// Values that need no more than a look at their type are written out, with common beginnings.
bool SchemaCompiler::emit_plain_values(const Parts& parts, NodeId from, NodeId to) {
  if (bare_) return false;
  const auto is_list = [](const Part& part) {
    return part.role == Part::Role::one_value || part.role == Part::Role::equal;
  };
  const auto first = std::ranges::find_if(parts, is_list);
  if (first == parts.end()) return false;
  unsigned types = json_type::any;
  for (const Part& part : parts) {
    if (is_list(part) || part.role == Part::Role::other_values) continue;
    if (part.role != Part::Role::plain || !only_types(*part.value)) return false;
    types &= document_.types_of(*part.value);
  }
  const auto allowed_by = [](const Part& part, const JsonValue& value) {
    if (part.role == Part::Role::plain) return true;
    if (part.role == Part::Role::equal) return equal(*part.value, value);
    const bool listed = std::ranges::any_of(part.value->items, [&](const auto& each) { return equal(each, value); });
    return listed == (part.role == Part::Role::one_value);
  };
  const auto allowed = [&](const JsonValue& value) {
    if ((types & type_of(value)) == 0) return false;
    return std::ranges::all_of(parts, [&](const Part& part) { return part == *first || allowed_by(part, value); });
  };
  std::vector<std::string> strings;
  const auto add = [&](const JsonValue& value) {
    if (!allowed(value)) return;
    if (value.is(JsonValue::Kind::string))
      strings.push_back(value.text);
    else
      emit_value(value, from, to);
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

}  // namespace inlay::text

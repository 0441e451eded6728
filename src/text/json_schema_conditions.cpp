// Keywords that say no more than simpler ones do, in the words of those: "not", "if", and what members ask for.
#include <utility>

#include "text/json_schema_parts.hpp"

namespace inlay::text {

// Who does not want to hear of keywords that a grammar may not be able to express has them as far as it is.
void SchemaDocument::expand_others(const JsonValue& schema, std::set<Part>& out) {
  if (!lenient_ && !SchemaMaker::made(schema)) return;
  if (const JsonValue* other = schema.find("not")) expand_negated(*other, out);
  expand_condition(schema, out);
  for (const std::string_view keyword : {"dependentRequired", "dependentSchemas", "dependencies"})
    expand_dependencies(schema, keyword, out);
}

// Schemas that nothing satisfies and those that everything does turn into each other.
void SchemaDocument::expand_negated(const JsonValue& schema, std::set<Part>& out) {
  if (schema.is(JsonValue::Kind::boolean)) {
    if (schema.truth) out.insert({&maker_.keep(SchemaMaker::never()), Part::Role::plain});
    return;
  }
  if (!schema.is(JsonValue::Kind::object)) fail(Flaw::bad_value, schema, {}, "a schema must be an object or a boolean");
  const auto [at, added] = negations_.try_emplace(&schema);
  if (added) {
    auto [alternatives, obstacle] = negation(*this, maker_, schema);
    if (!obstacle.empty()) cannot(schema, obstacle, "cannot be expressed by a grammar where it must not hold");
    if (obstacle.empty() && alternatives.empty()) alternatives.push_back({&maker_.keep(SchemaMaker::never())});
    if (obstacle.empty()) at->second = std::move(alternatives);
  }
  if (!at->second.empty()) out.insert({&schema, Part::Role::negated});
}

// "if" and "then", or not "if" and "else".
void SchemaDocument::expand_condition(const JsonValue& schema, std::set<Part>& out) {
  const JsonValue *condition = schema.find("if"), *then = schema.find("then"), *otherwise = schema.find("else");
  if (!condition || (!then && !otherwise)) return;
  std::vector<JsonValue> met{*condition}, failed{SchemaMaker::object({{"not", *condition}})};
  if (then) met.push_back(*then);
  if (otherwise) failed.push_back(*otherwise);
  add_choice({SchemaMaker::object({{"allOf", SchemaMaker::list(std::move(met))}}),
              SchemaMaker::object({{"allOf", SchemaMaker::list(std::move(failed))}})},
             out);
}

// Without a member of this name, or with what its being there asks for.
void SchemaDocument::expand_dependencies(const JsonValue& schema, std::string_view keyword, std::set<Part>& out) {
  const JsonValue* all = object(schema, keyword);
  if (!all) return;
  for (const auto& [name, value] : all->members) {
    const bool names = value.is(JsonValue::Kind::array);
    if (names ? keyword == "dependentSchemas" : keyword == "dependentRequired")
      fail(Flaw::bad_value, schema, keyword, "has a value of the wrong type");
    add_choice({SchemaMaker::object({{"properties", SchemaMaker::object({{name, SchemaMaker::never()}})}}),
                names ? SchemaMaker::object({{"required", value}}) : value},
               out);
  }
}

void SchemaDocument::add_choice(std::vector<JsonValue> branches, std::set<Part>& out) {
  out.insert({&maker_.keep(SchemaMaker::list(std::move(branches))), Part::Role::any_of});
}

}  // namespace inlay::text

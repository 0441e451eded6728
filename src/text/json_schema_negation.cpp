// What must hold where a schema does not: one of its keywords must fail.
#include "text/json_schema_negation.hpp"

#include <algorithm>
#include <array>

#include "text/json_schema_formats.hpp"
#include "text/json_schema_parts.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_made = 1u << 20;

using Member = JsonValue::Member;
using Maker = SchemaMaker;

bool says_nothing(const JsonValue& value) {
  return value.is(JsonValue::Kind::boolean) ? value.truth : value.is(JsonValue::Kind::object) && value.members.empty();
}

bool plain_values(const JsonValue& list) {
  return std::ranges::none_of(list.items, [](const JsonValue& value) {
    return value.is(JsonValue::Kind::array) || value.is(JsonValue::Kind::object);
  });
}

JsonValue one(std::string_view keyword, JsonValue value) {
  return Maker::object({{std::string(keyword), std::move(value)}});
}

// A schema for values of one type, with one more keyword.
JsonValue typed(std::string_view type, std::string_view keyword, JsonValue value) {
  return Maker::object({{"type", Maker::text(type)}, {std::string(keyword), std::move(value)}});
}

class Negator {
 public:
  Negator(const SchemaDocument& document, SchemaMaker& maker, const JsonValue& schema)
      : document_(document), maker_(maker), schema_(schema) {}

  Negation run() {
    if (const JsonValue* reference = document_.reference(schema_)) {
      turn_round(*reference);
      if (document_.references_stand_alone()) return std::move(out_);
    }
    for (const auto& [keyword, value] : schema_.members) {
      if (!out_.obstacle.empty()) break;
      if (!combination(keyword, value) && !limit(keyword) && !members(keyword, value)) check(keyword, value);
    }
    return std::move(out_);
  }

 private:
  void add(JsonValue schema) { out_.alternatives.push_back({&maker_.keep(std::move(schema))}); }
  void turn_round(const JsonValue& schema) { out_.alternatives.push_back({&schema, Part::Role::negated}); }

  bool combination(std::string_view keyword, const JsonValue& value) {
    if (keyword == "not") {
      out_.alternatives.push_back({&value});
    } else if (keyword == "allOf") {
      for (const JsonValue& each : document_.array(schema_, keyword)->items) turn_round(each);
    } else if (keyword == "anyOf") {
      std::vector<JsonValue> all;
      for (const JsonValue& each : document_.array(schema_, keyword)->items) all.push_back(one("not", each));
      add(one("allOf", Maker::list(std::move(all))));
    } else if (keyword == "const" || keyword == "enum") {
      const JsonValue& list =
          keyword == "enum" ? *document_.array(schema_, keyword) : maker_.keep(Maker::list({value}));
      if (!plain_values(list)) out_.obstacle = keyword;
      out_.alternatives.push_back({&list, Part::Role::other_values});
    } else if (keyword == "type") {
      other_types(value);
    } else if (keyword == "pattern") {
      out_.alternatives.push_back({document_.string(schema_, keyword), Part::Role::other_pattern});
    } else if (keyword == "format") {
      if (!format_pattern(document_.string(schema_, keyword)->text)) out_.obstacle = keyword;
      out_.alternatives.push_back({&value, Part::Role::other_format});
    } else {
      return false;
    }
    return true;
  }

  void other_types(const JsonValue& type) {
    const unsigned rest = json_type::any & ~document_.types_of(schema_);
    constexpr std::pair<unsigned, std::string_view> names[] = {
        {json_type::null, "null"},     {json_type::boolean, "boolean"}, {json_type::whole, "number"},
        {json_type::string, "string"}, {json_type::array, "array"},     {json_type::object, "object"}};
    std::vector<JsonValue> list;
    for (const auto& [bit, name] : names)
      if ((rest & bit) != 0) list.push_back(Maker::text(name));
    if (!list.empty()) add(one("type", Maker::list(std::move(list))));
    if ((rest & json_type::fraction) != 0 && (rest & json_type::whole) == 0)
      out_.alternatives.push_back({&type, Part::Role::fraction});
  }

  // Keywords that a limit on the other side contradicts.
  bool limit(std::string_view keyword) {
    struct Limit {
      std::string_view keyword, type, other;
      int step;  // 0: of numbers, whose other limit is the same
    };
    constexpr Limit limits[] = {{"minimum", "number", "exclusiveMaximum", 0},
                                {"maximum", "number", "exclusiveMinimum", 0},
                                {"exclusiveMinimum", "number", "maximum", 0},
                                {"exclusiveMaximum", "number", "minimum", 0},
                                {"minLength", "string", "maxLength", -1},
                                {"maxLength", "string", "minLength", 1},
                                {"minItems", "array", "maxItems", -1},
                                {"maxItems", "array", "minItems", 1},
                                {"minProperties", "object", "maxProperties", -1},
                                {"maxProperties", "object", "minProperties", 1}};
    const auto at = std::ranges::find(limits, keyword, &Limit::keyword);
    if (at == std::end(limits)) return false;
    if (at->step == 0) {
      add(typed(at->type, at->other, *document_.number(schema_, keyword)));
    } else if (const auto count = *document_.count(schema_, keyword); count > 0 || at->step > 0) {
      add(typed(at->type, at->other, Maker::number(std::to_string(std::int64_t(count) + at->step))));
    }
    return true;
  }

  bool members(std::string_view keyword, const JsonValue&) {
    if (keyword == "required") {
      for (const JsonValue& name : document_.array(schema_, keyword)->items) {
        if (!name.is(JsonValue::Kind::string))
          document_.fail(Flaw::bad_value, schema_, keyword, "must be a list of strings");
        add(typed("object", "properties", one(name.text, Maker::never())));
      }
    } else if (keyword == "properties") {
      for (const auto& [name, value] : document_.object(schema_, keyword)->members) {
        if (says_nothing(value)) continue;
        auto schema = typed("object", "properties", one(name, one("not", value)));
        schema.members.push_back({"required", Maker::list({Maker::text(name)})});
        add(std::move(schema));
      }
    } else {
      return false;
    }
    return true;
  }

  // Keywords that say something, and cannot be turned round.
  void check(std::string_view keyword, const JsonValue& value) {
    constexpr std::string_view hard[] = {"oneOf",
                                         "multipleOf",
                                         "items",
                                         "prefixItems",
                                         "additionalItems",
                                         "contains",
                                         "uniqueItems",
                                         "propertyNames",
                                         "patternProperties",
                                         "additionalProperties",
                                         "dependencies",
                                         "dependentRequired",
                                         "dependentSchemas",
                                         "if",
                                         "unevaluatedItems",
                                         "$dynamicRef",
                                         "$recursiveRef",
                                         "unevaluatedProperties"};
    const bool idle = says_nothing(value) || (keyword == "uniqueItems" && value.is(JsonValue::Kind::boolean)) ||
                      (keyword == "if" && !schema_.find("then") && !schema_.find("else"));
    if (!idle && std::ranges::find(hard, keyword) != std::end(hard)) out_.obstacle = keyword;
  }

  const SchemaDocument& document_;
  SchemaMaker& maker_;
  const JsonValue& schema_;
  Negation out_;
};

}  // namespace

JsonValue SchemaMaker::list(std::vector<JsonValue> items) {
  JsonValue out = fresh(JsonValue::Kind::array, {});
  out.items = std::move(items);
  return out;
}

JsonValue SchemaMaker::object(std::vector<JsonValue::Member> members) {
  JsonValue out = fresh(JsonValue::Kind::object, {});
  out.members = std::move(members);
  return out;
}

const JsonValue& SchemaMaker::keep(JsonValue value) {
  settle(kept_.emplace_back(std::move(value)));
  return kept_.back();
}

void SchemaMaker::settle(JsonValue& value) {
  if (++copied_ > most_made) refuse(Flaw::limit, "the schema has too much that must not hold");
  if (value.order == unnumbered_) value.order = next_++;
  for (JsonValue& item : value.items) settle(item);
  for (auto& member : value.members) settle(member.value);
}

Negation negation(const SchemaDocument& document, SchemaMaker& maker, const JsonValue& schema) {
  return Negator(document, maker, schema).run();
}

}  // namespace inlay::text

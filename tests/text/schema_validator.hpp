// A validator of JSON Schema for tests: slow, plain, and written without a look at how grammars are made.
#pragma once

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>

#include "tests/text/grammar_support.hpp"

namespace support {

// Keywords: type, enum, const, the limits of numbers, strings, lists and objects, pattern, properties, required,
// additionalProperties, items, prefixItems, anyOf, oneOf, allOf, not, if, then, else, dependentRequired,
// dependentSchemas, and $ref into $defs. Numbers are doubles.
class SchemaValidator {
 public:
  explicit SchemaValidator(const Json& root) : root_(root) {}
  bool valid(const Json& value) const { return valid(value, root_); }

 private:
  bool valid(const Json& value, const Json& schema) const {
    if (schema.is_boolean()) return schema.get<bool>();
    if (schema.contains("$ref") && !valid(value, referred(schema["$ref"]))) return false;
    if (schema.contains("type") && !has_type(value, schema["type"])) return false;
    if (schema.contains("const") && value != schema["const"]) return false;
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) return false;
    return combined(value, schema) && conditions(value, schema) &&
           (!value.is_number() || number(value.get<double>(), schema)) &&
           (!value.is_string() || string(value.get<std::string>(), schema)) &&
           (!value.is_array() || list(value, schema)) && (!value.is_object() || object(value, schema));
  }

  const Json& referred(const std::string& reference) const {
    return root_.at("$defs").at(reference.substr(std::string("#/$defs/").size()));
  }

  static bool has_type(const Json& value, const Json& type) {
    if (type.is_array()) return std::ranges::any_of(type, [&](const Json& each) { return has_type(value, each); });
    if (type == "integer") return value.is_number() && std::trunc(value.get<double>()) == value.get<double>();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }

  bool combined(const Json& value, const Json& schema) const {
    const auto count = [&](const char* keyword) {
      return std::ranges::count_if(schema[keyword], [&](const Json& branch) { return valid(value, branch); });
    };
    return (!schema.contains("anyOf") || count("anyOf") > 0) && (!schema.contains("oneOf") || count("oneOf") == 1) &&
           (!schema.contains("allOf") || count("allOf") == std::ptrdiff_t(schema["allOf"].size()));
  }

  bool conditions(const Json& value, const Json& schema) const {
    if (schema.contains("not") && valid(value, schema["not"])) return false;
    if (schema.contains("if")) {
      const char* asked = valid(value, schema["if"]) ? "then" : "else";
      if (schema.contains(asked) && !valid(value, schema[asked])) return false;
    }
    if (!value.is_object()) return true;
    const Json names = schema.value("dependentRequired", Json::object());
    for (const auto& [name, others] : names.items())
      for (const auto& other : others)
        if (value.contains(name) && !value.contains(other.get<std::string>())) return false;
    const Json schemas = schema.value("dependentSchemas", Json::object());
    for (const auto& [name, other] : schemas.items())
      if (value.contains(name) && !valid(value, other)) return false;
    return true;
  }

  // Whether a size keeps to a keyword, if the schema has it.
  template <class Holds>
  static bool limit(const Json& schema, const char* keyword, Holds holds) {
    return !schema.contains(keyword) || holds(schema[keyword].get<double>());
  }

  static bool between(double size, const Json& schema, const char* least, const char* most) {
    return limit(schema, least, [&](double x) { return size >= x; }) &&
           limit(schema, most, [&](double x) { return size <= x; });
  }

  static bool number(double value, const Json& schema) {
    constexpr double exact = 1e14;  // beyond, a double does not hold the digits
    return between(value, schema, "minimum", "maximum") &&
           limit(schema, "exclusiveMinimum", [&](double x) { return value > x; }) &&
           limit(schema, "exclusiveMaximum", [&](double x) { return value < x; }) &&
           limit(schema, "multipleOf", [&](double x) { return std::abs(value) > exact || std::fmod(value, x) == 0; });
  }

  static bool string(const std::string& value, const Json& schema) {
    const auto characters = std::ranges::count_if(value, [](char c) { return (c & 0xC0) != 0x80; });
    if (!between(double(characters), schema, "minLength", "maxLength")) return false;
    return !schema.contains("pattern") || std::regex_search(value, std::regex(schema["pattern"].get<std::string>()));
  }

  bool list(const Json& value, const Json& schema) const {
    if (!between(double(value.size()), schema, "minItems", "maxItems")) return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const bool in_front = schema.contains("prefixItems") && i < schema["prefixItems"].size();
      if (in_front && !valid(value[i], schema["prefixItems"][i])) return false;
      if (!in_front && schema.contains("items") && !valid(value[i], schema["items"])) return false;
    }
    return true;
  }

  bool object(const Json& value, const Json& schema) const {
    if (!between(double(value.size()), schema, "minProperties", "maxProperties")) return false;
    for (const auto& name : schema.value("required", Json::array())) {
      if (!value.contains(name.get<std::string>())) return false;
    }
    for (const auto& [name, member] : value.items()) {
      const bool named = schema.contains("properties") && schema["properties"].contains(name);
      if (named && !valid(member, schema["properties"][name])) return false;
      if (!named && schema.contains("additionalProperties") && !valid(member, schema["additionalProperties"]))
        return false;
    }
    return true;
  }

  const Json& root_;
};

}  // namespace support

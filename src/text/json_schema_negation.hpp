// What must hold where a schema does not, and keywords that say no more than simpler ones do, in the words of those.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/json_schema_value.hpp"

namespace inlay::text {

class SchemaDocument;
struct Negation;

// Makes schemas out of parts of others. They live as long as it does. What is copied keeps its order, and so its place
// in the document; what is new stands behind all of that.
class SchemaMaker {
 public:
  static JsonValue text(std::string_view value) { return fresh(JsonValue::Kind::string, std::string(value)); }
  static JsonValue number(std::string digits) { return fresh(JsonValue::Kind::number, std::move(digits)); }
  static JsonValue never() { return fresh(JsonValue::Kind::boolean, {}); }
  static JsonValue list(std::vector<JsonValue> items);
  static JsonValue object(std::vector<JsonValue::Member> members);

  const JsonValue& keep(JsonValue value);
  static bool made(const JsonValue& value) { return value.order >= first_; }

 private:
  static constexpr std::uint32_t first_ = 1u << 21, unnumbered_ = ~0u;  // more than a document has
  static JsonValue fresh(JsonValue::Kind kind, std::string text) {
    return {kind, false, unnumbered_, std::move(text), {}, {}};
  }
  void settle(JsonValue& value);
  std::deque<JsonValue> kept_;
  std::uint32_t next_ = first_;
  std::size_t copied_ = 0;
};

// What one of must hold where the schema does not.
Negation negation(const SchemaDocument& document, SchemaMaker& maker, const JsonValue& schema);

}  // namespace inlay::text

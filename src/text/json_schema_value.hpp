// A JSON document as it was written: members in their order, numbers as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::text {

struct JsonValue {
  struct Member;
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool truth = false;
  std::uint32_t order = 0;  // of its place in the document
  std::string text;         // a string's characters; a number's digits as written
  std::vector<JsonValue> items;
  std::vector<Member> members;

  bool is(Kind k) const { return kind == k; }
  const JsonValue* find(std::string_view name) const;
};

struct JsonValue::Member {
  std::string name;
  JsonValue value;
};

// Throws Error{argument}: not JSON, a name twice in one object, deeper than 64, or too large.
JsonValue parse_json(std::string_view text);

// The JSON pointer of a value within a document.
std::string pointer_to(const JsonValue& value, const JsonValue& document);

// A name as one step of a JSON pointer.
std::string pointer_step(std::string_view name);

}  // namespace inlay::text

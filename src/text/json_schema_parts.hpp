// Schemas that must hold together, taken apart until no reference and no "all of" is left.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "inlay/grammar.hpp"
#include "text/grammar_error.hpp"
#include "text/json_schema_negation.hpp"
#include "text/json_schema_value.hpp"

namespace inlay::text {

// The kinds of JSON value, as bits; whole numbers apart from the others.
namespace json_type {
inline constexpr unsigned null = 1, boolean = 2, whole = 4, fraction = 8, string = 16, array = 32, object = 64,
                          any = 127;
}

// One of the things that must hold: a schema; its own keywords only; one of its alternatives; to be equal to a value;
// what must where a schema does not; to be none of the values of a list; to be a string that a pattern or a format does
// not match; or to be a number that is not whole.
struct Part {
  enum class Role : std::uint8_t {
    whole,
    plain,
    any_of,
    one_of,
    one_value,
    equal,
    negated,
    other_values,
    other_pattern,
    other_format,
    fraction
  };
  const JsonValue* value = nullptr;
  Role role = Role::whole;
  friend bool operator==(const Part&, const Part&) = default;
  friend bool operator<(const Part& a, const Part& b) {  // as they stand in the document
    return a.value->order != b.value->order ? a.value->order < b.value->order : a.role < b.role;
  }
};
using Parts = std::vector<Part>;

struct Negation {
  Parts alternatives;
  std::string obstacle;  // a keyword that no grammar can turn round
};

// A schema document, with the words for what is wrong with it.
class SchemaDocument {
 public:
  SchemaDocument(const JsonValue& root, Unsupported unsupported);

  bool lenient() const { return lenient_; }

  // Without whole parts, sorted. Throws Error{argument} at a reference that leads nowhere or to itself, and at keywords
  // of the wrong type.
  Parts take_apart(const Parts& parts);

  // The branches of a part with alternatives.
  Parts branches(const Part& part) const;

  unsigned types_of(const JsonValue& schema) const;           // json_schema_types.cpp
  const JsonValue* reference(const JsonValue& schema) const;  // what "$ref" leads to
  bool references_stand_alone() const { return references_stand_alone_; }

  // Refuses a keyword that cannot be honoured, unless such are to be ignored.
  void cannot(const JsonValue& schema, std::string_view keyword, const std::string& why) const;
  [[noreturn]] void fail(Flaw flaw, const JsonValue& schema, std::string_view keyword, const std::string& what) const;
  std::string place(const JsonValue& schema, std::string_view keyword = {}) const;

  // Keywords with values of one kind; nothing where the keyword is absent.
  const JsonValue* array(const JsonValue& schema, std::string_view keyword) const;  // not an empty one
  const JsonValue* object(const JsonValue& schema, std::string_view keyword) const;
  const JsonValue* string(const JsonValue& schema, std::string_view keyword) const;
  const JsonValue* number(const JsonValue& schema, std::string_view keyword) const;
  std::optional<std::uint64_t> count(const JsonValue& schema, std::string_view keyword) const;

 private:
  void expand(const Part& part, std::set<Part>& out);
  void expand_schema(const JsonValue& schema, std::set<Part>& out);
  void expand_others(const JsonValue& schema, std::set<Part>& out);  // json_schema_conditions.cpp
  void expand_negated(const JsonValue& schema, std::set<Part>& out);
  void expand_condition(const JsonValue& schema, std::set<Part>& out);
  void expand_dependencies(const JsonValue& schema, std::string_view keyword, std::set<Part>& out);
  void add_choice(std::vector<JsonValue> branches, std::set<Part>& out);
  void add_alternatives(const JsonValue& schema, std::string_view keyword, Part::Role role, std::set<Part>& out);
  const JsonValue& target(const JsonValue& schema, const std::string& reference) const;
  const JsonValue& follow(const JsonValue& schema, const std::string& pointer) const;
  void refuse_always_unsupported(const JsonValue& schema) const;

  const JsonValue& root_;
  const bool lenient_;
  bool references_stand_alone_ = false;  // draft-07: keywords beside $ref mean nothing
  std::vector<const JsonValue*> path_;   // schemas that are being taken apart
  std::unordered_set<const JsonValue*> on_path_;
  SchemaMaker maker_;
  std::map<const JsonValue*, Parts> negations_;
};

}  // namespace inlay::text

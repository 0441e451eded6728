// Schemas that must hold together, taken apart until no reference and no "all of" is left.
#include "text/json_schema_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/grammar_chars.hpp"
#include "text/json_schema_decimal.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t longest_chain = 256;  // of references and allOf

// Undoes percent-encoding; nothing where it is broken.
std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

std::string decode_step(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escape = step[i] == '~' && i + 1 < step.size() && (step[i + 1] == '0' || step[i + 1] == '1');
    out += escape ? (step[++i] == '0' ? '~' : '/') : step[i];
  }
  return out;
}

const JsonValue* item_at(const JsonValue& array, std::string_view index) {
  if (index.empty() || index.size() > 7) return nullptr;
  std::size_t value = 0;
  for (const char c : index) {
    if (c < '0' || c > '9') return nullptr;
    value = value * 10 + static_cast<std::size_t>(c - '0');
  }
  return value < array.items.size() ? &array.items[value] : nullptr;
}

}  // namespace

SchemaDocument::SchemaDocument(const JsonValue& root, Unsupported unsupported)
    : root_(root), lenient_(unsupported == Unsupported::ignore) {
  const JsonValue* draft = root.find("$schema");
  if (draft && draft->is(JsonValue::Kind::string)) {
    for (const std::string_view old : {"draft-04", "draft-06", "draft-07"}) {
      references_stand_alone_ = references_stand_alone_ || draft->text.find(old) != std::string::npos;
    }
  } else {
    references_stand_alone_ = root.find("definitions") && !root.find("$defs");
  }
}

std::string SchemaDocument::place(const JsonValue& schema, std::string_view keyword) const {
  return pointer_to(schema, root_) + (keyword.empty() ? "" : pointer_step(keyword));
}

void SchemaDocument::fail(Flaw flaw, const JsonValue& schema, std::string_view keyword, const std::string& what) const {
  const std::string at = place(schema, keyword);
  refuse(flaw, keyword.empty() ? fmt::format("{} at {}", what, at) : fmt::format("'{}' {} at {}", keyword, what, at),
         at);
}

void SchemaDocument::cannot(const JsonValue& schema, std::string_view keyword, const std::string& why) const {
  if (!lenient_) fail(Flaw::unsupported, schema, keyword, why);
}

const JsonValue* SchemaDocument::array(const JsonValue& schema, std::string_view keyword) const {
  const JsonValue* value = schema.find(keyword);
  if (value && !value->is(JsonValue::Kind::array)) fail(Flaw::bad_value, schema, keyword, "must be a list");
  return value;
}

const JsonValue* SchemaDocument::object(const JsonValue& schema, std::string_view keyword) const {
  const JsonValue* value = schema.find(keyword);
  if (value && !value->is(JsonValue::Kind::object)) fail(Flaw::bad_value, schema, keyword, "must be an object");
  return value;
}

const JsonValue* SchemaDocument::string(const JsonValue& schema, std::string_view keyword) const {
  const JsonValue* value = schema.find(keyword);
  if (value && !value->is(JsonValue::Kind::string)) fail(Flaw::bad_value, schema, keyword, "must be a string");
  return value;
}

const JsonValue* SchemaDocument::number(const JsonValue& schema, std::string_view keyword) const {
  const JsonValue* value = schema.find(keyword);
  if (value && !value->is(JsonValue::Kind::number)) fail(Flaw::bad_value, schema, keyword, "must be a number");
  return value;
}

std::optional<std::uint64_t> SchemaDocument::count(const JsonValue& schema, std::string_view keyword) const {
  constexpr std::uint64_t largest = 0x3FFFFFFF;
  const JsonValue* value = number(schema, keyword);
  if (!value) return std::nullopt;
  const auto decimal = Decimal::parse(value->text);
  if (!decimal || decimal->negative() || !decimal->whole())
    fail(Flaw::bad_value, schema, keyword, "must be a whole number, not negative");
  const auto result = decimal->scaled(0);
  if (!result || *result > largest) fail(Flaw::limit, schema, keyword, fmt::format("is larger than {}", largest));
  return *result;
}

Parts SchemaDocument::take_apart(const Parts& parts) {
  std::set<Part> out;
  for (const Part& part : parts) expand(part, out);
  return {out.begin(), out.end()};
}

void SchemaDocument::expand(const Part& part, std::set<Part>& out) {
  const JsonValue& schema = *part.value;
  if (part.role == Part::Role::negated) return expand_negated(schema, out);
  if (part.role != Part::Role::whole) {
    out.insert(part);
    return;
  }
  if (schema.is(JsonValue::Kind::boolean)) {
    if (!schema.truth) out.insert({&schema, Part::Role::plain});
    return;
  }
  if (!schema.is(JsonValue::Kind::object)) fail(Flaw::bad_value, schema, {}, "a schema must be an object or a boolean");
  if (on_path_.contains(&schema)) fail(Flaw::cycle, schema, {}, "a schema refers to itself and to nothing else");
  if (path_.size() == longest_chain) fail(Flaw::limit, schema, {}, "references and 'allOf' are chained too deeply");
  if (out.contains({&schema, Part::Role::plain})) return;
  path_.push_back(&schema);
  on_path_.insert(&schema);
  expand_schema(schema, out);
  on_path_.erase(&schema);
  path_.pop_back();
}

void SchemaDocument::expand_schema(const JsonValue& schema, std::set<Part>& out) {
  const JsonValue* referred = reference(schema);
  if (referred && references_stand_alone_) return expand({referred}, out);
  refuse_always_unsupported(schema);
  out.insert({&schema, Part::Role::plain});
  if (referred) expand({referred}, out);
  if (const JsonValue* all = array(schema, "allOf")) {
    if (all->items.empty()) fail(Flaw::bad_value, schema, "allOf", "must not be empty");
    for (const JsonValue& each : all->items) expand({&each}, out);
  }
  add_alternatives(schema, "anyOf", Part::Role::any_of, out);
  add_alternatives(schema, "oneOf", Part::Role::one_of, out);
  add_alternatives(schema, "enum", Part::Role::one_value, out);
  if (const JsonValue* constant = schema.find("const")) out.insert({constant, Part::Role::equal});
  expand_others(schema, out);
}

void SchemaDocument::add_alternatives(const JsonValue& schema, std::string_view keyword, Part::Role role,
                                      std::set<Part>& out) {
  const JsonValue* list = array(schema, keyword);
  if (!list) return;
  if (list->items.empty()) fail(Flaw::unsatisfiable, schema, keyword, "is empty, so that nothing is valid");
  out.insert({list, role});
}

Parts SchemaDocument::branches(const Part& part) const {
  if (part.role == Part::Role::negated) return negations_.at(part.value);
  const Part::Role role = part.role == Part::Role::one_value ? Part::Role::equal : Part::Role::whole;
  Parts out;
  for (const JsonValue& each : part.value->items) out.push_back({&each, role});
  return out;
}

void SchemaDocument::refuse_always_unsupported(const JsonValue& schema) const {
  for (const std::string_view keyword :
       {"not", "if", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"}) {
    if (schema.find(keyword) && !SchemaMaker::made(schema)) cannot(schema, keyword, "cannot be expressed by a grammar");
  }
}

const JsonValue* SchemaDocument::reference(const JsonValue& schema) const {
  const JsonValue* reference = string(schema, "$ref");
  return reference ? &target(schema, reference->text) : nullptr;
}

const JsonValue& SchemaDocument::target(const JsonValue& schema, const std::string& reference) const {
  if (!reference.starts_with('#')) {
    fail(Flaw::forbidden, schema, "$ref", "refers to another document: no file is opened and no connection made");
  }
  const auto pointer = decode_percent(std::string_view(reference).substr(1));
  if (!pointer) fail(Flaw::undefined, schema, "$ref", "is not a valid reference");
  return follow(schema, *pointer);
}

const JsonValue& SchemaDocument::follow(const JsonValue& schema, const std::string& pointer) const {
  const JsonValue* at = &root_;
  if (!pointer.empty() && pointer[0] != '/')
    fail(Flaw::undefined, schema, "$ref", "refers to an anchor, which is not supported");
  for (std::size_t begin = 0; begin < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin + 1), pointer.size());
    const std::string step = decode_step(std::string_view(pointer).substr(begin + 1, end - begin - 1));
    at = at->is(JsonValue::Kind::array) ? item_at(*at, step) : at->find(step);
    if (!at) fail(Flaw::undefined, schema, "$ref", "refers to nothing");
    begin = end;
  }
  return *at;
}

}  // namespace inlay::text

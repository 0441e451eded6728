// Reads a JSON document through events, so that its depth is known before it is stored.
#include "text/json_schema_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t deepest = 64, longest = 8u << 20, most_values = 1u << 20;

class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return put({}); }
  bool boolean(bool value) override { return put({JsonValue::Kind::boolean, value, 0, {}, {}, {}}); }
  bool number_integer(number_integer_t value) override {
    return put_text(JsonValue::Kind::number, fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return put_text(JsonValue::Kind::number, fmt::format("{}", value));
  }
  bool number_float(number_float_t, const string_t& text) override { return put_text(JsonValue::Kind::number, text); }
  bool string(string_t& text) override { return put_text(JsonValue::Kind::string, std::move(text)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Kind::object); }
  bool start_array(std::size_t) override { return open(JsonValue::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!open_.back().names.insert(name).second) {
      refuse(Flaw::bad_value, fmt::format("an object has the name '{}' twice", name.substr(0, 80)), pointer_step(name));
    }
    open_.back().value->members.push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse(Flaw::syntax, fmt::format("the schema is not valid JSON: byte {} cannot follow", position),
           fmt::format("byte {}", position));
  }

  JsonValue root;

 private:
  struct Open {
    JsonValue* value;
    std::unordered_set<std::string> names;
  };

  JsonValue& place() {
    if (open_.empty()) return root;
    JsonValue& parent = *open_.back().value;
    return parent.is(JsonValue::Kind::array) ? parent.items.emplace_back() : parent.members.back().value;
  }

  JsonValue& put_value(JsonValue value) {
    if (values_ == most_values) refuse(Flaw::limit, "the schema has more than a million values");
    value.order = values_++;
    return place() = std::move(value);
  }

  bool put(JsonValue value) { return put_value(std::move(value)), true; }
  bool put_text(JsonValue::Kind kind, std::string text) { return put({kind, false, 0, std::move(text), {}, {}}); }

  bool open(JsonValue::Kind kind) {
    if (open_.size() == deepest) refuse(Flaw::limit, fmt::format("the schema nests deeper than {} levels", deepest));
    open_.push_back({&put_value({kind, false, 0, {}, {}, {}}), {}});
    return true;
  }

  bool close() { return open_.pop_back(), true; }

  std::vector<Open> open_;
  std::uint32_t values_ = 0;
};

// Of the values in a list, the one that a value with this order is, or stands in: values are numbered as they begin.
template <class List, class ValueOf>
auto around(const List& list, std::uint32_t order, ValueOf value_of) {
  return std::prev(std::upper_bound(list.begin(), list.end(), order, [&](std::uint32_t wanted, const auto& each) {
    return wanted < value_of(each).order;
  }));
}

// Adds the steps from one value to another within it. A schema may ask for the places of all its values.
bool find_path(const JsonValue& value, const JsonValue* within, std::string& path) {
  while (within->order != value.order) {
    if (value.order < within->order) return false;
    if (!within->items.empty() && within->items.front().order <= value.order) {
      const auto at = around(
          within->items, value.order, [](const JsonValue& each) -> auto& { return each; });
      path += fmt::format("/{}", at - within->items.begin());
      within = &*at;
    } else if (!within->members.empty() && within->members.front().value.order <= value.order) {
      const auto at = around(
          within->members, value.order, [](const auto& each) -> auto& { return each.value; });
      path += pointer_step(at->name);
      within = &at->value;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto at = std::ranges::find_if(members, [&](const auto& member) { return member.name == name; });
  return at == members.end() ? nullptr : &at->value;
}

JsonValue parse_json(std::string_view text) {
  if (text.size() > longest) refuse(Flaw::limit, fmt::format("the schema is longer than {} bytes", longest));
  JsonBuilder builder;
  if (!nlohmann::json::sax_parse(text, &builder)) refuse(Flaw::syntax, "the schema is not valid JSON");
  return std::move(builder.root);
}

std::string pointer_step(std::string_view name) {
  std::string out = "/";
  for (const char c : name.substr(0, 200)) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string pointer_to(const JsonValue& value, const JsonValue& document) {
  std::string path = "#";
  return find_path(value, &document, path) ? path : "#";
}

}  // namespace inlay::text

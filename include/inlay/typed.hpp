// Answers that are C++ structs: a struct is described once, and becomes a schema, a constraint and a reader.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "inlay/version.hpp"

namespace inlay {
inline namespace v0 {

/// One member of a struct: its name in JSON, and further keywords of its schema, for example R"("maxLength": 20)".
template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
  std::string_view keywords;
};
template <class Struct, class Member>
constexpr Field<Struct, Member> field(std::string_view name, Member Struct::*member, std::string_view keywords = {}) {
  return {name, member, keywords};
}

/// Describes a struct, in the order in which its members are answered. Members may be bool, numbers, std::string,
/// enumerations with names, structs with fields, and std::optional and std::vector of these; a struct may hold itself:
///   template <> inline constexpr auto inlay::fields<Line> = std::tuple(inlay::field("item", &Line::item), ...);
template <class T>
inline constexpr std::tuple<> fields{};

/// Describes an enumeration:
///   template <> inline constexpr auto inlay::names<Size> = std::array{std::pair{"small", Size::small}, ...};
template <class T>
inline constexpr std::array<std::pair<const char*, T>, 0> names{};

namespace typed {

/// A JSON value that was read. Where the text was cut, what is there: half a string, but no half numbers.
struct INLAY_API Json {
  enum class Kind { missing, null, boolean, number, string, array, object };
  Kind kind = Kind::missing;
  bool truth = false;
  std::string text = {};  ///< a string's characters, a number's digits
  std::vector<Json> items = {};
  std::vector<std::pair<std::string, Json>> members = {};

  /// Reads the beginning of a text, which may be all of it. Throws Error{argument} for what cannot begin JSON.
  static Json read(std::string_view text);
  const Json* find(std::string_view name) const noexcept;  ///< null if absent
  double real() const noexcept;                            ///< 0 if it is no number
  std::int64_t integer() const noexcept;                   ///< 0 if it is none that fits
  std::uint64_t natural() const noexcept;
};

INLAY_API std::string json_string(std::string_view text);  // as a JSON string

template <class T>
concept Described = std::tuple_size_v<std::remove_cvref_t<decltype(fields<T>)>> >
0;
template <class T>
concept Named = std::is_enum_v<T> && std::tuple_size_v<std::remove_cvref_t<decltype(names<T>)>> >
0;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// Schemas of types; a struct is written once and referred to, so that it may hold itself.
class SchemaWriter {
 public:
  template <class T>
  std::string whole() {
    const auto root = of<T>();
    std::string definitions;
    for (std::size_t i = 0; i < structs_.size(); ++i)
      definitions += (i > 0 ? "," : "") + json_string(std::to_string(i)) + ":" + structs_[i].second;
    return "{\"$defs\":{" + definitions + "},\"allOf\":[" + root + "]}";
  }

 private:
  template <class T>
  std::string of(std::string_view keywords = {}) {
    const auto more = keywords.empty() ? std::string("}") : "," + std::string(keywords) + "}";
    if constexpr (std::same_as<T, bool>) {
      return "{\"type\":\"boolean\"" + more;
    } else if constexpr (std::integral<T>) {
      const auto limit = [&](const char* name, T value) {
        return keywords.find(json_string(name)) == keywords.npos ? "," + json_string(name) + ":" + std::to_string(value)
                                                                 : "";
      };
      return "{\"type\":\"integer\"" + limit("minimum", std::numeric_limits<T>::min()) +
             limit("maximum", std::numeric_limits<T>::max()) + more;
    } else if constexpr (std::floating_point<T>) {
      return "{\"type\":\"number\"" + more;
    } else if constexpr (std::same_as<T, std::string>) {
      return "{\"type\":\"string\"" + more;
    } else if constexpr (is_vector<T>) {
      return "{\"type\":\"array\",\"items\":" + of<typename T::value_type>() + more;
    } else if constexpr (is_optional<T>) {
      return "{\"anyOf\":[{\"type\":\"null\"}," + of<typename T::value_type>(keywords) + "]}";
    } else if constexpr (Named<T>) {
      std::string all;
      for (const auto& [name, value] : names<T>) all += (all.empty() ? "" : ",") + json_string(name);
      return "{\"enum\":[" + all + "]" + more;
    } else {
      static_assert(Described<T>, "this type needs a specialization of inlay::fields or inlay::names");
      return "{\"$ref\":\"#/$defs/" + std::to_string(index_of<T>()) + "\"" + more;
    }
  }

  template <class T>
  std::size_t index_of() {
    const void* const id = &fields<T>;
    for (std::size_t i = 0; i < structs_.size(); ++i)
      if (structs_[i].first == id) return i;
    const auto index = structs_.size();
    structs_.emplace_back(id, std::string());
    std::string properties, required;
    std::apply(
        [&]<class... Members>(const Field<T, Members>&... each) {
          const auto add = [&]<class Member>(const Field<T, Member>& f) {
            const auto comma = properties.empty() ? "" : ",";
            properties += comma + json_string(f.name) + ":" + of<Member>(f.keywords);
            required += comma + json_string(f.name);
          };
          (add(each), ...);
        },
        fields<T>);
    structs_[index].second = "{\"type\":\"object\",\"properties\":{" + properties + "},\"required\":[" + required +
                             "],\"additionalProperties\":false}";
    return index;
  }

  std::vector<std::pair<const void*, std::string>> structs_;
};

// Writes what was read into a value; what is missing stays as it is.
template <class T>
void fill(T& to, const Json& from) {
  using Kind = Json::Kind;
  if constexpr (std::same_as<T, bool>) {
    if (from.kind == Kind::boolean) to = from.truth;
  } else if constexpr (std::signed_integral<T>) {
    if (from.kind == Kind::number) to = static_cast<T>(from.integer());
  } else if constexpr (std::unsigned_integral<T>) {
    if (from.kind == Kind::number) to = static_cast<T>(from.natural());
  } else if constexpr (std::floating_point<T>) {
    if (from.kind == Kind::number) to = static_cast<T>(from.real());
  } else if constexpr (std::same_as<T, std::string>) {
    if (from.kind == Kind::string) to = from.text;
  } else if constexpr (is_vector<T>) {
    if (from.kind != Kind::array) return;
    to.clear();
    for (const auto& item : from.items) {
      typename T::value_type value{};
      fill(value, item);
      to.push_back(std::move(value));
    }
  } else if constexpr (is_optional<T>) {
    to.reset();
    if (from.kind != Kind::null && from.kind != Kind::missing) fill(to.emplace(), from);
  } else if constexpr (Named<T>) {
    for (const auto& [name, value] : names<T>)
      if (from.kind == Kind::string && from.text == name) to = value;
  } else {
    std::apply(
        [&](const auto&... each) {
          const auto read = [&](const auto& f) {
            if (const auto* member = from.find(f.name)) fill(to.*f.member, *member);
          };
          (read(each), ...);
        },
        fields<T>);
  }
}

}  // namespace typed

/// The JSON schema of a described type.
template <class T>
std::string schema_of() {
  return typed::SchemaWriter().whole<T>();
}

/// A value from JSON. What the text does not hold, or not yet, is as in T{}.
template <class T>
T from_json(std::string_view text) {
  T value{};
  typed::fill(value, typed::Json::read(text));
  return value;
}

}  // namespace v0
}  // namespace inlay

// JSON files as plain trees whose members keep their order, read with bounds on size and depth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace inlay::inline v0::conversion {

struct Member;

struct Json {
  using List = std::vector<Json>;
  using Object = std::vector<Member>;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Object> value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  // The member; null if it is absent or null, or if this is no object.
  const Json* find(std::string_view name) const;
  // Item `i` of a list; null if there is none.
  const Json* at(std::size_t i) const;
  // The members of an object, the items of a list; none where this is neither.
  const Object& members() const;
  const List& items() const;
  // The text of a string; empty where this is none.
  std::string_view text() const;
};

struct Member {
  std::string name;
  Json value;
};

// The whole of `text`; `file` is for messages. Throws Error{format}: not JSON, deeper than 32, a name twice in an
// object.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace inlay::inline v0::conversion

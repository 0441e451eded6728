// Reads JSON as far as it goes, for values that are filled while they are written.
#include "inlay/typed.hpp"

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "api/guarded.hpp"
#include "inlay/error.hpp"

namespace inlay {
inline namespace v0 {
namespace typed {

namespace {

constexpr int deepest = 256;
constexpr std::string_view spaces = " \n\r\t";

// Each function reads one thing, or as much of it as there is.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Json value(int depth = 0) {
    skip_spaces();
    if (depth > deepest) refuse("it is nested too deeply");
    if (rest_.empty()) return {};
    switch (rest_[0]) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': return {.kind = Json::Kind::string, .text = string()};
      case 't': return literal("true", {.kind = Json::Kind::boolean, .truth = true});
      case 'f': return literal("false", {.kind = Json::Kind::boolean});
      case 'n': return literal("null", {.kind = Json::Kind::null});
      default: return number();
    }
  }

  void end() {
    skip_spaces();
    if (!rest_.empty()) refuse("something follows its value");
  }

 private:
  [[noreturn]] static void refuse(const char* what) {
    throw Error(Errc::argument, std::string("the text is not JSON: ") + what, Fault::bad_value);
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(spaces), rest_.size())); }

  bool take(char c) {
    skip_spaces();
    const bool found = rest_.starts_with(c);
    if (found) rest_.remove_prefix(1);
    return found;
  }

  // Whether a list or an object goes on; false at its end, and at that of the text.
  bool goes_on(char close, bool first) {
    if (take(close)) return false;
    if (!first && !rest_.empty() && !take(',')) refuse("a comma is missing");
    skip_spaces();
    return !rest_.empty();
  }

  Json object(int depth) {
    Json result{.kind = Json::Kind::object};
    rest_.remove_prefix(1);
    while (goes_on('}', result.members.empty())) {
      if (rest_[0] != '"') refuse("a name is missing");
      auto name = string();
      skip_spaces();
      if (rest_.empty()) return result;
      if (!take(':')) refuse("a colon is missing");
      auto member = value(depth + 1);
      if (member.kind == Json::Kind::missing) return result;
      result.members.emplace_back(std::move(name), std::move(member));
    }
    return result;
  }

  Json array(int depth) {
    Json result{.kind = Json::Kind::array};
    rest_.remove_prefix(1);
    while (goes_on(']', result.items.empty())) {
      auto item = value(depth + 1);
      if (item.kind == Json::Kind::missing) return result;
      result.items.push_back(std::move(item));
    }
    return result;
  }

  Json literal(std::string_view word, Json value) {
    const auto there = rest_.substr(0, word.size());
    if (!word.starts_with(there)) refuse("a word in it is none of true, false, null");
    rest_.remove_prefix(there.size());
    return there == word ? std::move(value) : Json();
  }

  // One that reaches the end of the text may go on.
  Json number() {
    const auto size = rest_.find_first_not_of("+-.0123456789eE");
    if (size == 0) refuse("a value is missing");
    if (size == rest_.npos) return rest_ = {}, Json();
    Json result{.kind = Json::Kind::number, .text = std::string(rest_.substr(0, size))};
    rest_.remove_prefix(size);
    return result;
  }

  // Cut short, it ends after its last whole character.
  std::string string() {
    std::size_t end = 1, whole = 1;
    while (end < rest_.size() && rest_[end] != '"') {
      end += rest_[end] == '\\' ? (rest_.substr(end, 2) == "\\u" ? 6 : 2) : 1;
      if (end <= rest_.size()) whole = end;
    }
    std::string quoted(rest_.substr(0, whole));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    for (;; quoted.pop_back()) {
      const auto read = nlohmann::json::parse(quoted + '"', nullptr, false);
      if (read.is_string()) return read.get<std::string>();
      if (quoted.size() <= 1 || !rest_.empty()) refuse("a string in it is none");
    }
  }

  std::string_view rest_;
};

template <class Number>
Number converted(const Json& json) noexcept {
  Number number = 0;
  if (json.kind != Json::Kind::number) return 0;
  const char* const end = json.text.data() + json.text.size();
  const auto [at, error] = std::from_chars(json.text.data(), end, number);
  if (error == std::errc() && at == end) return number;
  if constexpr (std::is_integral_v<Number>) {  // perhaps it is written as 1e3 or 1.0
    const double real = json.real();
    constexpr double limit = 9007199254740992.0;  // up to here, doubles are exact
    if (real >= (std::is_signed_v<Number> ? -limit : 0) && real <= limit) return static_cast<Number>(real);
  }
  return 0;
}

}  // namespace

Json Json::read(std::string_view text) {
  return api::guarded([&] {
    Reader reader(text);
    auto value = reader.value();
    reader.end();
    return value;
  });
}

const Json* Json::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

double Json::real() const noexcept { return converted<double>(*this); }
std::int64_t Json::integer() const noexcept { return converted<std::int64_t>(*this); }
std::uint64_t Json::natural() const noexcept { return converted<std::uint64_t>(*this); }

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace typed
}  // namespace v0
}  // namespace inlay

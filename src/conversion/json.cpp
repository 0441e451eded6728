// The parser reports events, and the tree grows by them: so depth is bounded before anything is built.
#include "conversion/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "inlay/error.hpp"

namespace inlay::inline v0::conversion {
namespace {

constexpr std::size_t most_levels = 32;

class Builder {
 public:
  explicit Builder(const std::string& file) : file_(file) {}

  bool null() { return add({nullptr}); }
  bool boolean(bool value) { return add({value}); }
  bool number_integer(std::int64_t value) { return add({value}); }
  bool number_unsigned(std::uint64_t value) {
    if (value > std::uint64_t(INT64_MAX)) return add({static_cast<double>(value)});
    return add({static_cast<std::int64_t>(value)});
  }
  bool number_float(double value, const std::string&) { return add({value}); }
  bool string(std::string& value) { return add({std::move(value)}); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open({Json::Object()}); }
  bool start_array(std::size_t) { return open({Json::List()}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!names_.back().insert(name).second)
      fail(Fault::duplicate, fmt::format("the name \"{}\" twice in an object", name));
    std::get<Json::Object>(levels_.back()->value).push_back({std::move(name), {nullptr}});
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    fail(Fault::bad_value, fmt::format("what is no JSON at byte {}", position));
  }

  Json root = {nullptr};

 private:
  [[noreturn]] void fail(Fault fault, const std::string& what) {
    throw Error(Errc::format, fmt::format("{} has {}", file_, what), fault, file_);
  }

  Json* place(Json&& value) {
    if (levels_.empty()) return &(root = std::move(value));
    Json& level = *levels_.back();
    if (auto* list = std::get_if<Json::List>(&level.value)) return &list->emplace_back(std::move(value));
    Json& member = std::get<Json::Object>(level.value).back().value;
    return &(member = std::move(value));
  }
  bool add(Json&& value) {
    place(std::move(value));
    return true;
  }
  bool open(Json&& value) {
    if (levels_.size() == most_levels) fail(Fault::limit, fmt::format("JSON nested more than {} deep", most_levels));
    levels_.push_back(place(std::move(value)));
    names_.emplace_back();
    return true;
  }
  bool close() {
    levels_.pop_back();
    names_.pop_back();
    return true;
  }

  const std::string& file_;
  std::vector<Json*> levels_;  // those that are open; a level grows only while it is the innermost, so they stay
  std::vector<std::set<std::string>> names_;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  for (const Member& member : members()) {
    if (member.name == name) return member.value.as<std::nullptr_t>() ? nullptr : &member.value;
  }
  return nullptr;
}

const Json* Json::at(std::size_t i) const { return i < items().size() ? &items()[i] : nullptr; }

const Json::Object& Json::members() const {
  static const Object none;
  const auto* object = as<Object>();
  return object ? *object : none;
}

const Json::List& Json::items() const {
  static const List none;
  const auto* list = as<List>();
  return list ? *list : none;
}

std::string_view Json::text() const {
  const auto* text = as<std::string>();
  return text ? std::string_view(*text) : std::string_view();
}

Json parse_json(std::string_view text, const std::string& file) {
  Builder builder(file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.root);
}

}  // namespace inlay::inline v0::conversion

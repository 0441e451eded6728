// Opening files by name, and reading settings by key.
#include "conversion/folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace inlay::inline v0::conversion {
namespace {

constexpr std::size_t most_bytes = std::size_t{128} << 20;

std::filesystem::path native(const std::string& path) {
  return std::filesystem::path(std::u8string(path.begin(), path.end()));
}

}  // namespace

std::string Folder::name() const {
  const auto full = std::filesystem::absolute(native(path_)).lexically_normal();
  const auto name = (full.has_filename() ? full.filename() : full.parent_path().filename()).u8string();
  return {name.begin(), name.end()};
}

bool Folder::has(std::string_view file) const {
  std::error_code unused;
  return std::filesystem::is_regular_file(native(path(file)), unused);
}

base::Mapping Folder::open(std::string_view file) const try {
  return base::Mapping::open(path(file), base::Mapping::Way::map);
} catch (const std::system_error& error) {
  throw Error(Errc::io, fmt::format("cannot open {}: {}", path(file), error.code().message()));
}

std::string Folder::text(std::string_view file) const {
  const auto mapping = open(file);
  const auto content = mapping.content();
  if (content.size() > most_bytes) {
    throw Error(Errc::format, fmt::format("{} has more than {} bytes", path(file), most_bytes), Fault::limit,
                std::string(file));
  }
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

Json Folder::json(std::string_view file) const {
  if (!has(file)) return {Json::Object()};
  return parse_json(text(file), std::string(file));
}

std::optional<std::int64_t> Settings::integer(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = value->as<std::int64_t>()) return *number;
  fail(Fault::wrong_type, key, "is no integer");
}

std::optional<double> Settings::real(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = value->as<double>()) return *number;
  if (const auto* number = value->as<std::int64_t>()) return static_cast<double>(*number);
  fail(Fault::wrong_type, key, "is no number");
}

std::optional<std::string_view> Settings::text(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* text = value->as<std::string>()) return *text;
  fail(Fault::wrong_type, key, "is no string");
}

std::uint32_t Settings::count(std::string_view key) const {
  const auto value = integer(key);
  if (!value) fail(Fault::missing_key, key, "is missing");
  if (*value < 0 || *value > INT32_MAX) fail(Fault::bad_value, key, "is out of range");
  return static_cast<std::uint32_t>(*value);
}

std::uint32_t Settings::count(std::string_view key, std::uint32_t otherwise) const {
  return find(key) ? count(key) : otherwise;
}

void Settings::fail(Fault fault, std::string_view key, std::string_view what) const {
  throw Error(Errc::format, fmt::format("{}: \"{}\" {}", file_, key, what), fault, std::string(key));
}

}  // namespace inlay::inline v0::conversion

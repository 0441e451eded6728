// What the keys of a file hold, as numbers, texts and arrays.
#include "runtime/file_metadata.hpp"

#include <fmt/format.h>

#include <cmath>

namespace inlay::runtime {

namespace {

[[noreturn]] void wrong_type(std::string_view key, std::string_view wanted) {
  throw Error(Errc::format, fmt::format("the key {} must be {}", key, wanted), Fault::wrong_type, std::string(key));
}

}  // namespace

std::optional<double> FileMetadata::number(std::string_view key, std::size_t i) const {
  const auto* value = file_->find(key);
  if (!value) return std::nullopt;
  if (i >= value->size()) return std::nullopt;
  if (const auto flag = value->flag(i)) return *flag;
  if (const auto real = value->real(i)) {
    if (!std::isnan(*real)) return *real;
    throw Error(Errc::format, fmt::format("the key {} is no number", key), Fault::bad_value, std::string(key));
  }
  wrong_type(key, "a number");
}

std::optional<std::string_view> FileMetadata::text(std::string_view key) const {
  const auto* value = file_->find(key);
  if (!value) return std::nullopt;
  const auto text = value->text();
  if (!text || value->type() == gguf::ValueType::array) wrong_type(key, "a string");
  return text;
}

std::size_t FileMetadata::size(std::string_view key) const {
  const auto* value = file_->find(key);
  if (!value) return 0;
  if (value->size() == 0)
    throw Error(Errc::format, fmt::format("the array {} is empty", key), Fault::bad_value, std::string(key));
  return value->size();
}

}  // namespace inlay::runtime

// The files of a model's folder that are no tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/mapping.hpp"
#include "conversion/json.hpp"
#include "inlay/error.hpp"

namespace inlay::inline v0::conversion {

class Folder {
 public:
  explicit Folder(std::string_view path) : path_(path) {}

  std::string path(std::string_view file) const { return path_ + "/" + std::string(file); }
  std::string name() const;  // the folder's own
  bool has(std::string_view file) const;
  // Throws Error{io} if it cannot be opened.
  base::Mapping open(std::string_view file) const;
  // The whole file; throws Error{io}, and Error{format} over 128 MiB.
  std::string text(std::string_view file) const;
  // The file as JSON; an empty object where it is absent.
  Json json(std::string_view file) const;

 private:
  std::string path_;
};

// Settings of one file, typed: throws Error{format} naming file and key.
class Settings {
 public:
  Settings(std::string file, const Json& object) : file_(std::move(file)), object_(object) {}

  const Json* find(std::string_view key) const { return object_.find(key); }
  // These are empty where the key is absent or null.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<std::string_view> text(std::string_view key) const;
  // A number from 0 to 2^31 - 1, which must be there.
  std::uint32_t count(std::string_view key) const;
  std::uint32_t count(std::string_view key, std::uint32_t otherwise) const;

  [[noreturn]] void fail(Fault fault, std::string_view key, std::string_view what) const;

 private:
  std::string file_;
  const Json& object_;
};

}  // namespace inlay::inline v0::conversion

// Reads a file front to back; every number and string of a GGUF file comes through here, so none lies past its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "inlay/error.hpp"

namespace inlay::inline v0::gguf {

class Cursor {
 public:
  Cursor(std::span<const std::byte> file, std::string_view file_name) : file_(file), file_name_(file_name) {}

  std::uint64_t position() const noexcept { return position_; }
  std::uint64_t left() const noexcept { return file_.size() - position_; }

  // What is read from now on, for messages: ("key", "general.name"). The name must outlive the reading of it.
  void enter(std::string_view kind, std::string_view name = {}) noexcept {
    kind_ = kind;
    name_ = name;
  }

  template <class Number>
  Number number(std::string_view what) {
    Number value;
    std::memcpy(&value, bytes(sizeof(Number), what).data(), sizeof(Number));
    return value;
  }

  std::span<const std::byte> bytes(std::uint64_t count, std::string_view what) {
    if (count > left()) fail_truncated(count, what);
    const auto taken = file_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  std::string_view text(std::string_view what) {
    const auto content = bytes(number<std::uint64_t>(what), what);
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }

  // Refuses a count of items of at least `item_bytes` each that the rest of the file cannot hold.
  void expect(std::uint64_t count, std::uint64_t item_bytes, std::string_view what) const;

  // Refuses a name that is empty, too long or not printable ASCII.
  void check_name(std::string_view name, std::uint64_t max_bytes) const;

  // Throws the error: file, what is being read, `sentence`, place.
  [[noreturn]] void fail(Fault fault, const std::string& sentence) const;

 private:
  [[noreturn]] void fail_truncated(std::uint64_t count, std::string_view what) const;

  std::span<const std::byte> file_;
  std::string_view file_name_;
  std::uint64_t position_ = 0;
  std::string_view kind_ = "header", name_;
};

}  // namespace inlay::inline v0::gguf

// A file's content in memory, read-only: the system reads the parts that are looked at.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace inlay::base {

class Mapping {
 public:
  // Called before each request to the system; a test throws from it what the system could have reported.
  using Probe = std::function<void()>;

  // `path` is UTF-8. Throws std::system_error. The length is that of the opened file, not of a second look by name.
  static Mapping open(const std::string& path, const Probe& probe = {});

  Mapping(Mapping&& other) noexcept : content_(other.content_) { other.content_ = {}; }
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(content_, other.content_);
    return *this;
  }
  ~Mapping();

  std::span<const std::byte> content() const noexcept { return content_; }

  // Gives the memory of the whole pages of `part` back; they are read again if they are looked at again.
  void drop(std::span<const std::byte> part) const noexcept;

 private:
  explicit Mapping(std::span<const std::byte> content) noexcept : content_(content) {}
  std::span<const std::byte> content_;
};

}  // namespace inlay::base

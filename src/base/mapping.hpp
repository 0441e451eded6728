// A file's content in memory, read-only: mapped, so that the system reads the parts that are looked at, or copied.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace inlay::base {

class Mapping {
 public:
  enum class Way { map, copy };  // a copy stays as it is when somebody changes the file

  // Called before each request to the system; a test throws from it what the system could have reported.
  using Probe = std::function<void()>;

  // `path` is UTF-8. Throws std::system_error. The length is that of the opened file, not of a second look by name.
  static Mapping open(const std::string& path, Way way, const Probe& probe = {});

  Mapping(Mapping&& other) noexcept : way_(other.way_), content_(std::exchange(other.content_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(way_, other.way_);
    std::swap(content_, other.content_);
    return *this;
  }
  ~Mapping();

  std::span<const std::byte> content() const noexcept { return content_; }

  // Gives the memory of the whole pages of `part` back; they are read again if they are looked at again.
  void drop(std::span<const std::byte> part) const noexcept;

 private:
  Mapping(Way way, std::span<std::byte> content) noexcept : way_(way), content_(content) {}
  Way way_;
  std::span<std::byte> content_;
};

}  // namespace inlay::base

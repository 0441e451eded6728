// A range of addresses that is reserved as a whole and has memory only where it is asked for.
#pragma once

#include <cstddef>
#include <utility>

namespace inlay::base {

class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(std::size_t bytes);  // throws std::bad_alloc, as commit() does
  ~Reservation();
  Reservation(Reservation&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(start_, other.start_), std::swap(bytes_, other.bytes_);
    return *this;
  }

  static std::size_t granularity() noexcept;  // places and sizes below are multiples of this

  std::byte* data() const noexcept { return start_; }
  void commit(std::size_t offset, std::size_t bytes);             // memory that may be read and written
  void decommit(std::size_t offset, std::size_t bytes) noexcept;  // and gives it back

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace inlay::base

// Where blocks go that nobody has used for long: places in a nameless file, with a checksum for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scratch_file.hpp"

namespace inlay::runtime {

// Not thread-safe: the engine's lock covers it.
class Tier {
 public:
  // Of at most so many bytes. Throws Error{io}.
  Tier(const std::string& folder, std::size_t block_bytes, std::uint64_t most_bytes,
       std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  std::size_t capacity() const noexcept { return capacity_; }  // blocks

  // Where the block stands from now on; none: the budget is used up, or the disk is full.
  std::optional<std::int32_t> put(std::span<const std::byte> block) noexcept;
  // Throws Error{io} where the file no longer holds what was put there.
  void read(std::int32_t place, std::span<std::byte> block) const;
  void free(std::int32_t place) noexcept { free_.push_back(place); }  // put() has reserved the capacity

 private:
  std::uint64_t offset_of(std::int32_t place) const noexcept { return std::uint64_t(place) * block_bytes_; }

  base::ScratchFile file_;
  std::size_t block_bytes_, capacity_;
  std::pmr::vector<std::uint64_t> checksums_;  // of all places that were ever taken
  std::pmr::vector<std::int32_t> free_;
};

}  // namespace inlay::runtime

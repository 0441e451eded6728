// Memory for what sessions keep, in a range of addresses for each: blocks lie behind one another, and only those that
// are held have memory.
#pragma once

#include <algorithm>
#include <new>

#include "base/reservation.hpp"
#include "runtime/pool.hpp"

namespace inlay::runtime {

// A segment is a range, and a sequence holds its blocks from the first on, alone.
class RangePool final : public Pool {
 public:
  // Ranges of so many blocks, and at most so many ranges.
  RangePool(const Device& device, std::size_t block_bytes, std::size_t most_bytes, int blocks, std::size_t most_ranges)
      : Pool(device, in_whole_pages(block_bytes), blocks),
        most_(std::max<std::size_t>(1, most_bytes / block_bytes_)),
        ranges_(device.memory()) {
    memory_.resize(std::min({most_, most_ranges, most_segments}));
  }

  std::size_t capacity() const noexcept override { return most_; }
  std::size_t used() const noexcept override { return used_; }
  std::size_t growth_bytes() const noexcept override { return block_bytes_; }

  bool shares() const noexcept override { return false; }

  using Pool::acquire;
  std::int32_t acquire(std::int32_t after) override {
    const bool begins = after < 0, ends = !begins && (after + 1) % in_segment_ == 0;
    if (used_ == most_ || ends) Pool::fail(most_ * block_bytes_);
    const auto block = begins ? first_of_a_range() : after + 1;
    auto& range = ranges_[std::size_t(block / in_segment_)];
    try {
      range.addresses.commit(offset_of(block), block_bytes_);
    } catch (const std::bad_alloc&) {
      throw Error(Errc::memory, "no memory for " + std::to_string(block_bytes_) + " bytes of the cache");
    }
    ++range.used, ++used_;
    holders_[std::size_t(block)] = 1;
    return block;
  }

  void trim() noexcept override {
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].used == 0) ranges_[i].addresses = {}, memory_[i] = nullptr;
  }

 private:
  struct Range {
    base::Reservation addresses = {};
    int used = 0;  // blocks
  };

  static std::size_t in_whole_pages(std::size_t bytes) {
    const auto page = base::Reservation::granularity();
    return (bytes + page - 1) / page * page;
  }
  std::size_t offset_of(std::int32_t block) const noexcept { return std::size_t(block % in_segment_) * block_bytes_; }

  std::int32_t first_of_a_range() {
    std::size_t i = 0;
    while (i < ranges_.size() && ranges_[i].used > 0) ++i;
    if (i == memory_.size()) Pool::fail(most_ * block_bytes_);
    if (i == ranges_.size()) {
      holders_.resize((i + 1) * std::size_t(in_segment_));
      ranges_.emplace_back();
    }
    if (!memory_[i]) try {
        ranges_[i].addresses = base::Reservation(segment_bytes());
        memory_[i] = ranges_[i].addresses.data();
      } catch (const std::bad_alloc&) {
        throw Error(Errc::memory, "no range of " + std::to_string(segment_bytes()) + " addresses for the cache");
      }
    return std::int32_t(i) * in_segment_;
  }

  void leave(std::int32_t block) noexcept override {
    auto& range = ranges_[std::size_t(block / in_segment_)];
    range.addresses.decommit(offset_of(block), block_bytes_);
    --range.used, --used_;
  }

  std::size_t most_, used_ = 0;  // blocks
  std::pmr::vector<Range> ranges_;
};

}  // namespace inlay::runtime

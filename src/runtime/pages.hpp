// Memory for what sessions keep: equal blocks in segments that grow on demand, counted by reference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/device.hpp"

namespace inlay::runtime {

// Blocks of one size (a page of keys and values for every layer, or a state slot). A block is shared by counting its
// holders, and copied before it is written by one of several. Not thread-safe: the engine's lock covers it.
class BlockPool {
 public:
  BlockPool(const Device& device, std::size_t block_bytes, std::size_t most_bytes)
      : device_(&device), block_bytes_(block_bytes), in_segment_(blocks_in_segment(block_bytes, most_bytes)) {
    const auto most = std::max<std::size_t>(1, most_bytes / (block_bytes * std::size_t(in_segment_)));
    limit_ = std::min<std::size_t>(most, most_segments);
    memory_.resize(limit_);  // never moves again: the device keeps the address
  }
  ~BlockPool() {
    for (void* segment : memory_) device_->release(segment, segment_bytes());
  }
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  std::size_t block_bytes() const noexcept { return block_bytes_; }
  int segment_blocks() const noexcept { return in_segment_; }
  void* const* segments() const noexcept { return memory_.data(); }
  std::size_t capacity() const noexcept { return limit_ * std::size_t(in_segment_); }
  std::size_t used() const noexcept { return holders_.size() - free_.size(); }

  // Asked, where a block is wanted and there is no memory, to release one that can be spared; false: there is none.
  void when_full(std::function<bool()> spare) { spare_ = std::move(spare); }

  std::int32_t acquire() {  // held once; throws Error{memory} at the pool's limit
    while (free_.empty()) {
      try {
        grow();
      } catch (const Error&) {
        if (!spare_ || !spare_()) throw;
      }
    }
    const auto block = free_.back();
    free_.pop_back();
    holders_[std::size_t(block)] = 1;
    return block;
  }
  void share(std::int32_t block) noexcept { ++holders_[std::size_t(block)]; }
  int holders(std::int32_t block) const noexcept { return holders_[std::size_t(block)]; }
  void release(std::int32_t block) noexcept {
    if (--holders_[std::size_t(block)] == 0) free_.push_back(block);  // capacity was reserved by grow()
  }

  // The same contents in a block of its own.
  std::int32_t copy(std::int32_t from) {
    const auto to = acquire();
    device_->table().copy(device_->handle(), address(to), address(from), block_bytes_);
    return to;
  }

  // A block with these contents that nobody else holds: a copy, or, where others have let go of it meanwhile, itself.
  std::int32_t own(std::int32_t block) {
    try {
      return holders(block) > 1 ? copy(block) : block;
    } catch (const Error&) {
      if (holders(block) > 1) throw;
      return block;
    }
  }

  void* address(std::int32_t block) const noexcept {
    return static_cast<std::byte*>(memory_[std::size_t(block / in_segment_)]) +
           std::size_t(block % in_segment_) * block_bytes_;
  }

  // Gives segments back of which no block is held, from the last one on.
  void trim() noexcept {
    while (grown_ > 0 && idle(grown_ - 1)) {
      --grown_;
      const auto first = std::int32_t(grown_) * in_segment_;
      std::erase_if(free_, [&](std::int32_t block) { return block >= first; });
      holders_.resize(std::size_t(first));
      device_->release(memory_[grown_], segment_bytes());
      memory_[grown_] = nullptr;
    }
  }

 private:
  static constexpr std::size_t most_segments = 1 << 16, segment_target = 1 << 20, fewest_blocks = 16;

  // Large blocks in segments of several, for which the system gives large pages.
  static int blocks_in_segment(std::size_t block_bytes, std::size_t most_bytes) {
    const auto block = std::max<std::size_t>(1, block_bytes);
    const auto wanted = std::clamp<std::size_t>(segment_target / block, fewest_blocks, 1024);
    return int(std::clamp<std::size_t>(most_bytes / block, 1, wanted));
  }
  std::size_t segment_bytes() const noexcept { return block_bytes_ * std::size_t(in_segment_); }
  bool idle(std::size_t segment) const noexcept {
    const auto begin = holders_.begin() + std::ptrdiff_t(segment) * in_segment_;
    return std::all_of(begin, begin + in_segment_, [](int held) { return held == 0; });
  }

  void grow() {
    if (grown_ == limit_)
      throw Error(
          Errc::memory,
          "the cache is full: " + std::to_string(limit_ * segment_bytes()) + " bytes (LoadOptions::cache_bytes)",
          Fault::limit);
    const auto first = holders_.size(), count = std::size_t(in_segment_);
    free_.reserve(first + count);
    holders_.reserve(first + count);
    memory_[grown_] = device_->allocate(segment_bytes());
    ++grown_;
    holders_.resize(first + count, 0);
    for (std::size_t i = count; i-- > 0;) free_.push_back(std::int32_t(first + i));
  }

  const Device* device_;
  std::size_t block_bytes_, limit_ = 0, grown_ = 0;
  std::int32_t in_segment_;
  std::vector<void*> memory_;
  std::vector<int> holders_;
  std::vector<std::int32_t> free_;
  std::function<bool()> spare_;
};

}  // namespace inlay::runtime

// What every pool of blocks does, wherever its memory comes from: blocks have numbers, and are counted by their
// holders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.hpp"

namespace inlay::runtime {

// Blocks of one size (a page of keys and values for every layer, or a state slot). A block is shared by counting its
// holders, and copied before it is written by one of several. Not thread-safe: the engine's lock covers it.
class Pool {
 public:
  virtual ~Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::size_t block_bytes() const noexcept { return block_bytes_; }
  int segment_blocks() const noexcept { return in_segment_; }
  std::size_t segment_bytes() const noexcept { return block_bytes_ * std::size_t(in_segment_); }
  void* const* segments() const noexcept { return memory_.data(); }
  virtual std::size_t capacity() const noexcept = 0;
  virtual std::size_t used() const noexcept = 0;
  virtual std::size_t growth_bytes() const noexcept { return segment_bytes(); }  // memory is taken in such pieces

  // A block held once, to stand behind another of its sequence, or first: -1. Throws Error{memory} at the limit.
  virtual std::int32_t acquire(std::int32_t after) = 0;
  std::int32_t acquire() { return acquire(-1); }
  void share(std::int32_t block) noexcept { ++holders_[std::size_t(block)]; }
  int holders(std::int32_t block) const noexcept { return holders_[std::size_t(block)]; }
  void release(std::int32_t block) noexcept {
    if (--holders_[std::size_t(block)] == 0) leave(block);
  }
  // Asked, where a block is wanted and there is no memory, to release one that can be spared; false: there is none.
  virtual void when_full(const std::function<bool()>&) {}
  virtual void trim() noexcept = 0;  // gives memory back that no block needs
  // Has the system find the memory of one more block, so that whoever takes it does not wait for that, where it has not
  // found that of `wanted` blocks which nobody holds.
  virtual void warm(std::size_t) noexcept {}

  // The same contents in a block of its own. Whoever has a tier pins `from`.
  std::int32_t copy(std::int32_t from, std::int32_t after = -1) {
    const auto to = acquire(after);
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

  virtual bool shares() const noexcept { return true; }  // whether a block may have several holders

  // Where blocks may leave memory for a while: brings one back, where it stays at least until another is brought back
  // or acquired. Throws Error{memory}, and Error{io} where it is lost.
  virtual bool tiered() const noexcept { return false; }
  virtual void bring_back(std::int32_t) {}
  // A block stays in memory while it is pinned.
  virtual void pin(std::int32_t) {}
  virtual void unpin(std::int32_t) noexcept {}

 protected:
  static constexpr std::size_t most_segments = 1 << 16;

  Pool(const Device& device, std::size_t block_bytes, int in_segment)
      : device_(&device),
        block_bytes_(block_bytes),
        in_segment_(in_segment),
        memory_(device.memory()),
        holders_(device.memory()) {}

  virtual void leave(std::int32_t block) noexcept = 0;  // that nobody holds any more

  [[noreturn]] static void fail(std::size_t most_bytes) {
    throw Error(Errc::memory, "the cache is full: " + std::to_string(most_bytes) + " bytes (LoadOptions::cache_bytes)",
                Fault::limit);
  }

  const Device* device_;
  std::size_t block_bytes_;
  std::int32_t in_segment_;
  std::pmr::vector<void*> memory_;  // of each segment; its size stays, for the device keeps the address
  std::pmr::vector<int> holders_;
};

}  // namespace inlay::runtime

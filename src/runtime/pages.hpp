// Memory for what sessions keep, in segments that grow on demand. Blocks that nobody used for long may stand in a file
// instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/pool.hpp"
#include "runtime/tier.hpp"

namespace inlay::runtime {

// Blocks wherever there is room. With a tier, each block is a segment of its own, which may have no memory for a while.
class BlockPool final : public Pool {
 public:
  BlockPool(const Device& device, std::size_t block_bytes, std::size_t most_bytes, base::Owned<Tier> tier = {})
      : Pool(device, block_bytes, tier ? 1 : blocks_in_segment(block_bytes, most_bytes)),
        free_(device.memory()),
        tier_(std::move(tier)),
        blocks_(device.memory()),
        staging_(device.memory()) {
    most_in_memory_ = std::max<std::size_t>(1, most_bytes / (block_bytes * std::size_t(in_segment_)));
    const auto on_disk = tier_ ? tier_->capacity() : 0;
    limit_ = std::min(most_in_memory_ + on_disk - (on_disk > 0), most_segments);  // one place is for an exchange
    memory_.resize(limit_);
    if (tier_) blocks_.resize(limit_), staging_.resize(block_bytes);
  }
  ~BlockPool() override {
    for (void* segment : memory_) device_->release(segment, segment_bytes());
  }

  std::size_t capacity() const noexcept override { return limit_ * std::size_t(in_segment_); }
  std::size_t used() const noexcept override { return holders_.size() - free_.size(); }

  void when_full(const std::function<bool()>& spare) override { spare_ = spare; }

  using Pool::acquire;
  std::int32_t acquire(std::int32_t) override {
    with_room([&] {
      if (free_.empty()) grow();
      if (auto& memory = memory_[std::size_t(free_.back() / in_segment_)]; !memory) memory = memory_for_segment();
    });
    const auto block = free_.back();
    free_.pop_back();
    holders_[std::size_t(block)] = 1;
    fresh_ = std::max(fresh_, std::size_t(block) + 1);
    if (tier_) blocks_[std::size_t(block)].used = ++uses_;
    return block;
  }
  bool tiered() const noexcept override { return tier_ != nullptr; }
  std::size_t in_memory() const noexcept { return in_memory_; }  // segments
  void bring_back(std::int32_t block) override {
    auto& state = blocks_[std::size_t(block)];
    state.used = ++uses_;
    if (memory_[std::size_t(block)]) return;
    void* memory = nullptr;
    with_room([&] { memory = memory_for_segment(); });
    try {
      tier_->read(state.place, staging_);
    } catch (const Error&) {
      give_back(memory);
      throw;
    }
    device_->table().upload(device_->handle(), memory, staging_.data(), block_bytes_);
    memory_[std::size_t(block)] = memory;
    leave_tier(state);
  }
  void pin(std::int32_t block) override {
    bring_back(block);
    ++blocks_[std::size_t(block)].pins;
  }
  void unpin(std::int32_t block) noexcept override { --blocks_[std::size_t(block)].pins; }

  void warm(std::size_t wanted) noexcept override {
    const auto untouched = holders_.size() - fresh_;
    if (tier_ || free_.size() - untouched >= wanted || (untouched == 0 && grown_ == limit_)) return;
    try {
      if (untouched == 0) grow();
    } catch (const std::exception&) {  // whoever needs one says so
      return;
    }
    const std::byte zero{};
    auto* place = static_cast<std::byte*>(address(std::int32_t(fresh_++)));
    for (std::size_t i = 0; i < block_bytes_; i += system_page)
      device_->table().upload(device_->handle(), place + i, &zero, 1);
  }
  std::size_t warmed() const noexcept { return fresh_; }  // blocks that the system has found memory for

  // Gives segments back of which no block is held, from the last one on.
  void trim() noexcept override {
    while (grown_ > 0 && idle(grown_ - 1)) {
      --grown_;
      const auto first = std::int32_t(grown_) * in_segment_;
      std::erase_if(free_, [&](std::int32_t block) { return block >= first; });
      holders_.resize(std::size_t(first));
      fresh_ = std::min(fresh_, std::size_t(first));
      give_back(std::exchange(memory_[grown_], nullptr));
    }
  }

 private:
  static constexpr std::size_t segment_target = 1 << 20, fewest_blocks = 16, system_page = 4096;

  struct Tiered {
    std::int32_t place = -1;  // in the file; below zero: none
    int pins = 0;
    std::uint64_t used = 0;  // when it was last
  };

  // Large blocks in segments of several, for which the system gives large pages.
  static int blocks_in_segment(std::size_t block_bytes, std::size_t most_bytes) {
    const auto block = std::max<std::size_t>(1, block_bytes);
    const auto wanted = std::clamp<std::size_t>(segment_target / block, fewest_blocks, 1024);
    return int(std::clamp<std::size_t>(most_bytes / block, 1, wanted));
  }
  bool idle(std::size_t segment) const noexcept {
    const auto begin = holders_.begin() + std::ptrdiff_t(segment) * in_segment_;
    return std::all_of(begin, begin + in_segment_, [](int held) { return held == 0; });
  }

  [[noreturn]] void fail() const { Pool::fail(most_in_memory_ * segment_bytes()); }
  void leave(std::int32_t block) noexcept override {
    free_.push_back(block);  // capacity was reserved by grow()
    if (tier_) leave_tier(blocks_[std::size_t(block)]);
  }
  template <class Work>
  void with_room(const Work& work) {
    for (;;) try {
        return work();
      } catch (const Error&) {
        if (!spare_ || !spare_()) throw;
      }
  }

  void* memory_for_segment() {
    if (in_memory_ == most_in_memory_) {
      if (!tier_) fail();
      return memory_of_another();
    }
    void* memory = device_->allocate(segment_bytes());
    ++in_memory_;
    return memory;
  }
  void give_back(void* memory) noexcept {
    in_memory_ -= memory != nullptr;
    device_->release(memory, segment_bytes());
  }

  // Of a block that nobody holds, or of the one that was not used for longest, which goes to the file.
  void* memory_of_another() {
    for (const auto block : free_)
      if (auto& memory = memory_[std::size_t(block)]) return std::exchange(memory, nullptr);
    std::size_t oldest = limit_;
    for (std::size_t i = 0; i < holders_.size(); ++i)
      if (memory_[i] && blocks_[i].pins == 0 && (oldest == limit_ || blocks_[i].used < blocks_[oldest].used))
        oldest = i;
    if (oldest == limit_) fail();
    device_->table().download(device_->handle(), staging_.data(), memory_[oldest], block_bytes_);
    const auto place = tier_->put(staging_);
    if (!place) fail();
    blocks_[oldest].place = *place;
    return std::exchange(memory_[oldest], nullptr);
  }
  void leave_tier(Tiered& block) noexcept {
    if (block.place >= 0) tier_->free(std::exchange(block.place, -1));
  }

  void grow() {
    if (grown_ == limit_) fail();
    const auto first = holders_.size(), count = std::size_t(in_segment_);
    free_.reserve(first + count);
    holders_.reserve(first + count);
    memory_[grown_] = memory_for_segment();
    ++grown_;
    holders_.resize(first + count, 0);
    free_.insert(free_.begin(), count, 0);  // those that were held before are taken first
    for (std::size_t i = 0; i < count; ++i) free_[i] = std::int32_t(first + count - 1 - i);
  }

  std::size_t limit_ = 0, grown_ = 0;               // segments that there can be, and are
  std::size_t most_in_memory_ = 0, in_memory_ = 0;  // segments
  std::size_t fresh_ = 0;                           // from this block on none was ever held, or warmed
  std::pmr::vector<std::int32_t> free_;
  std::function<bool()> spare_;

  base::Owned<Tier> tier_;
  std::pmr::vector<Tiered> blocks_;      // of a pool with a tier
  std::pmr::vector<std::byte> staging_;  // a block on its way
  std::uint64_t uses_ = 0;
};

}  // namespace inlay::runtime

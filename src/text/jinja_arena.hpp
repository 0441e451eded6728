// Memory and work of one template, counted: whatever a template does is paid for from one budget.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "text/chat_template.hpp"
#include "text/jinja_error.hpp"

namespace inlay::text::jinja {

class Budget {
 public:
  explicit Budget(const TemplateLimits& limits, std::size_t memory_in_use = 0)
      : limits_(limits), memory_(memory_in_use) {}

  const TemplateLimits& limits() const { return limits_; }
  std::size_t memory_in_use() const { return memory_; }

  void take_memory(std::size_t bytes) {
    if (bytes > limits_.memory - std::min(memory_, limits_.memory)) {
      fail(Trouble::limit, "the template needs more memory than the limit allows");
    }
    memory_ += bytes;
  }

  void work(std::size_t steps) {
    steps_ += steps;
    if (steps_ > limits_.steps) fail(Trouble::limit, "the template takes more steps than the limit allows");
  }

  // Reading or copying text, and looking at each of its characters: about as long as one step for so many bytes.
  void work_on_text(std::size_t bytes) { work(1 + bytes / 16); }
  void work_on_characters(std::size_t bytes) { work(1 + bytes / 4); }

 private:
  TemplateLimits limits_;
  std::size_t memory_;
  std::size_t steps_ = 0;
};

// Bump memory that is freed all at once, so that values may refer to each other in any way, cycles included.
class Arena {
 public:
  explicit Arena(Budget& budget) : budget_(&budget) {}

  Budget& budget() const { return *budget_; }

  // Hands the counting over to another budget; what was taken so far stays with the old one.
  void charge_to(Budget& budget) { budget_ = &budget; }

  template <class T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignment);
    if (count > budget_->limits().memory / sizeof(T)) {
      fail(Trouble::limit, "the template needs more memory than the limit allows");
    }
    return std::uninitialized_default_construct_n(static_cast<T*>(allocate(count * sizeof(T))), count) - count;
  }

  template <class T, class... Arguments>
  T* make(Arguments&&... arguments) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignment);
    return new (allocate(sizeof(T))) T{std::forward<Arguments>(arguments)...};
  }

  template <class T>
  std::span<const T> copy(const std::vector<T>& items) {
    T* kept = array<T>(items.size());
    std::copy(items.begin(), items.end(), kept);
    return {kept, items.size()};
  }

  std::string_view copy(std::string_view bytes) {
    char* kept = array<char>(bytes.size());
    if (!bytes.empty()) std::memcpy(kept, bytes.data(), bytes.size());
    return {kept, bytes.size()};
  }

 private:
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t block_size = 32 << 10;

  void* allocate(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > left_) return fresh_block(bytes);
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }

  // Large requests get a block of their own, and the block in use stays in use.
  void* fresh_block(std::size_t bytes) {
    const std::size_t size = std::max(bytes, block_size);
    budget_->take_memory(size);
    blocks_.push_back(std::make_unique_for_overwrite<Block[]>(size / alignment));
    std::byte* const start = blocks_.back()[0].bytes;
    if (bytes <= block_size / 2) {
      next_ = start + bytes;
      left_ = size - bytes;
    }
    return start;
  }

  struct alignas(alignment) Block {
    std::byte bytes[alignment];
  };

  Budget* budget_;
  std::vector<std::unique_ptr<Block[]>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace inlay::text::jinja

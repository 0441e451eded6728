// A host's memory beside the heap, for models to be loaded into.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory_resource>
#include <mutex>
#include <new>

#include "inlay/model.hpp"

namespace support {

// Memory that is not the heap's.
class Beside final : public std::pmr::memory_resource {
 public:
  std::size_t now = 0, allocations = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    align = std::max(align, alignof(std::max_align_t));
    void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (!memory) throw std::bad_alloc();
    std::lock_guard guard(mutex_);
    now += bytes;
    ++allocations;
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    std::free(memory);
    std::lock_guard guard(mutex_);
    now -= bytes;
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::mutex mutex_;
};

// Bytes of the heap that the texts of a model's info take, which are standard strings.
inline std::size_t of_texts(const inlay::ModelInfo& info) {
  std::size_t bytes = 0;
  for (const auto* text : {&info.name, &info.architecture, &info.quantization, &info.license, &info.chat_template,
                           &info.device, &info.isa})
    if (text->capacity() > std::string().capacity()) bytes += text->capacity() + 1;
  return bytes;
}

inline void serially(int n, const std::function<void(int)>& body) {
  for (int i = 0; i < n; ++i) body(i);
}

}  // namespace support

// The memory resource that a host gave, or the heap.
#pragma once

#include <memory_resource>

namespace inlay::base {

inline std::pmr::memory_resource* or_heap(std::pmr::memory_resource* memory) noexcept {
  return memory ? memory : std::pmr::new_delete_resource();
}

}  // namespace inlay::base

// The memory resource that a host gave, or the heap, and objects that lie in it.
#pragma once

#include <memory>
#include <memory_resource>
#include <utility>

namespace inlay::base {

inline std::pmr::memory_resource* or_heap(std::pmr::memory_resource* memory) noexcept {
  return memory ? memory : std::pmr::new_delete_resource();
}

// Ends an object and gives its place back, also where it is known by a base that lies elsewhere in it.
struct Release {
  std::pmr::memory_resource* memory = nullptr;
  void* place = nullptr;
  std::size_t bytes = 0, alignment = 0;
  template <class T>
  void operator()(T* object) const noexcept {
    object->~T();
    memory->deallocate(place, bytes, alignment);
  }
};

template <class T>
using Owned = std::unique_ptr<T, Release>;

template <class T, class... Arguments>
Owned<T> make(std::pmr::memory_resource* memory, Arguments&&... arguments) {
  const Release release{memory, memory->allocate(sizeof(T), alignof(T)), sizeof(T), alignof(T)};
  try {
    return Owned<T>(new (release.place) T(std::forward<Arguments>(arguments)...), release);
  } catch (...) {
    memory->deallocate(release.place, release.bytes, release.alignment);
    throw;
  }
}

template <class T, class... Arguments>
std::shared_ptr<T> make_shared(std::pmr::memory_resource* memory, Arguments&&... arguments) {
  return std::allocate_shared<T>(std::pmr::polymorphic_allocator<>(memory), std::forward<Arguments>(arguments)...);
}

}  // namespace inlay::base

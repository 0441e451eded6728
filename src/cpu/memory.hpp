// Memory from the host that opened a device, and containers that take theirs from there.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "inlay/backend.h"

namespace inlay::cpu {

inline constexpr std::size_t alignment = 64;  // of a cache line and of the widest vector

// Never throws; null: out of memory.
inline void* allocate(const inlay_host& host, std::size_t bytes) noexcept {
  if (host.alloc) return host.alloc(host.self, bytes, alignment);
  return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
}

inline void release(const inlay_host& host, void* memory, std::size_t bytes) noexcept {
  if (!memory) return;
  if (host.release) return host.release(host.self, memory, bytes, alignment);
  if (!host.alloc) ::operator delete(memory, std::align_val_t(alignment));
}

template <class T>
struct HostAllocator {
  using value_type = T;
  const inlay_host* host;

  explicit HostAllocator(const inlay_host& h) noexcept : host(&h) {}
  template <class U>
  HostAllocator(const HostAllocator<U>& other) noexcept : host(other.host) {}

  T* allocate(std::size_t n) {
    void* memory = cpu::allocate(*host, n * sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) noexcept { release(*host, memory, n * sizeof(T)); }
  template <class U>
  bool operator==(const HostAllocator<U>& other) const noexcept {
    return host == other.host;
  }
};

template <class T>
using HostVector = std::vector<T, HostAllocator<T>>;

}  // namespace inlay::cpu

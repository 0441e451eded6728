// Memory from the host that opened a device, and containers that take theirs from there.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <vector>

#include "inlay/backend.h"

namespace inlay::cpu {

inline constexpr std::size_t alignment = 64;  // of a cache line and of the widest vector

// Never throws; null: out of memory.
inline void* allocate(const inlay_host& host, std::size_t bytes, std::size_t align = alignment) noexcept {
  if (host.alloc) return host.alloc(host.self, bytes, align);
  return ::operator new(bytes, std::align_val_t(align), std::nothrow);
}

inline void release(const inlay_host& host, void* memory, std::size_t bytes, std::size_t align = alignment) noexcept {
  if (!memory) return;
  if (host.release) return host.release(host.self, memory, bytes, align);
  if (!host.alloc) ::operator delete(memory, std::align_val_t(align));
}

// The same as the standard library knows it. Keeps a copy, so that the last object may go after all else.
class HostMemory final : public std::pmr::memory_resource {
 public:
  explicit HostMemory(const inlay_host& host) noexcept : host_(host) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (void* memory = cpu::allocate(host_, bytes, align)) return memory;
    throw std::bad_alloc();
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t align) override {
    release(host_, memory, bytes, align);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  inlay_host host_;
};

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

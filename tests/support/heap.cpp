// Replaces operator new by one that counts and can fail. Not for executables with several threads.
#include "tests/support/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace heap {
namespace {

constexpr std::size_t header = 16;  // before each allocation, with its size; more where more alignment is asked for
constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
std::size_t now = 0, most = 0, made = 0, left = never;
bool persistent = false, failed = false;

bool must_fail() {
  if (left == never) return false;
  if (left > 0) {
    --left;
    return false;
  }
  failed = true;
  if (!persistent) left = never;
  return true;
}

void* allocate(std::size_t size, std::size_t align = header) noexcept {
  if (must_fail()) return nullptr;
  align = std::max(align, header);
  auto* start = static_cast<std::byte*>(std::aligned_alloc(align, (size + align + align - 1) / align * align));
  if (start == nullptr) return nullptr;
  new (start + align - header) std::size_t(size);
  ++made;
  now += size;
  most = std::max(most, now);
  return start + align;
}

void release(void* memory, std::size_t align = header) noexcept {
  if (memory == nullptr) return;
  auto* bytes = static_cast<std::byte*>(memory);
  now -= *reinterpret_cast<std::size_t*>(bytes - header);
  std::free(bytes - std::max(align, header));
}

void* allocate_or_throw(std::size_t size, std::size_t align = header) {
  if (void* memory = allocate(size, align)) return memory;
  throw std::bad_alloc();
}

}  // namespace

std::size_t used() { return now; }
std::size_t allocations() { return made; }
void mark_peak() { most = now; }
std::size_t peak() { return most; }

void fail_after(std::size_t allocations, bool for_ever) {
  failed = false;
  persistent = for_ever;
  left = allocations;
}

bool never_fail() {
  left = never;
  return failed;
}

}  // namespace heap

void* operator new(std::size_t size) { return heap::allocate_or_throw(size); }
void* operator new[](std::size_t size) { return heap::allocate_or_throw(size); }
void* operator new(std::size_t size, std::align_val_t align) {
  return heap::allocate_or_throw(size, std::size_t(align));
}
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return heap::allocate(size, std::size_t(align));
}
void operator delete(void* memory, std::align_val_t align) noexcept { heap::release(memory, std::size_t(align)); }
void operator delete(void* memory, std::size_t, std::align_val_t align) noexcept {
  heap::release(memory, std::size_t(align));
}
void operator delete(void* memory, std::align_val_t align, const std::nothrow_t&) noexcept {
  heap::release(memory, std::size_t(align));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return heap::allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return heap::allocate(size); }
void operator delete(void* memory) noexcept { heap::release(memory); }
void operator delete[](void* memory) noexcept { heap::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { heap::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { heap::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { heap::release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { heap::release(memory); }

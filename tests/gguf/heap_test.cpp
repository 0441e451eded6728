// Replaces operator new by one that counts and can fail, and proves that it does.
#include "tests/gguf/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#include "tests/support/catch.hpp"

namespace heap {
namespace {

constexpr std::size_t header = 16;  // keeps the size of the allocation, and the alignment
constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
std::size_t now = 0, most = 0, left = never;
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

void* allocate(std::size_t size) noexcept {
  if (must_fail()) return nullptr;
  auto* start = static_cast<std::byte*>(std::malloc(size + header));
  if (start == nullptr) return nullptr;
  new (start) std::size_t(size);
  now += size;
  most = std::max(most, now);
  return start + header;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* start = static_cast<std::byte*>(memory) - header;
  now -= *reinterpret_cast<std::size_t*>(start);
  std::free(start);
}

void* allocate_or_throw(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

std::size_t used() { return now; }
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
// Memory resources ask in this way; nothing here needs more than the header's alignment.
void* operator new(std::size_t size, std::align_val_t align) {
  if (std::size_t(align) > heap::header) throw std::bad_alloc();
  return heap::allocate_or_throw(size);
}
void operator delete(void* memory, std::align_val_t) noexcept { heap::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { heap::release(memory); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return heap::allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return heap::allocate(size); }
void operator delete(void* memory) noexcept { heap::release(memory); }
void operator delete[](void* memory) noexcept { heap::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { heap::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { heap::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { heap::release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { heap::release(memory); }

TEST_CASE("the heap of the tests counts and fails") {
  const std::size_t before = heap::used();
  heap::mark_peak();
  auto block = std::make_unique<char[]>(1000);
  const std::size_t during = heap::used();
  block.reset();
  const std::size_t after = heap::used(), most = heap::peak();
  CHECK(during == before + 1000);
  CHECK(after == before);
  CHECK(most == before + 1000);

  heap::fail_after(1, false);
  auto first = std::make_unique<char>();
  bool thrown = false;
  try {
    auto second = std::make_unique<char>();
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  auto third = std::make_unique<char>();
  CHECK(heap::never_fail());
  CHECK(thrown);
}

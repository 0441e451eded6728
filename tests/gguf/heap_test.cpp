// Proves that the heap of the tests counts and fails.
#include "tests/support/heap.hpp"

#include <new>

#include "tests/support/catch.hpp"

// Calls of operator new, and not new expressions, which compilers may leave out.
TEST_CASE("the heap of the tests counts and fails") {
  const std::size_t before = heap::used();
  heap::mark_peak();
  void* block = ::operator new(1000);
  const std::size_t during = heap::used();
  ::operator delete(block);
  const std::size_t after = heap::used(), most = heap::peak();
  CHECK(during == before + 1000);
  CHECK(after == before);
  CHECK(most == before + 1000);

  heap::fail_after(1, false);
  void* first = ::operator new(1, std::align_val_t(64));
  bool thrown = false;
  try {
    ::operator delete(::operator new(1));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  void* third = ::operator new(1);
  CHECK(heap::never_fail());
  CHECK(thrown);
  ::operator delete(third);
  ::operator delete(first, std::align_val_t(64));
  CHECK(heap::used() == before);
}

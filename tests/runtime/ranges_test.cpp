// Proves: in a pool of ranges the blocks of a sequence lie behind one another, and only those that are held have
// memory.
#include "runtime/ranges.hpp"

#include <random>

#include "cpu/cpu.hpp"
#include "tests/support/catch.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace {

using inlay::runtime::Device;
using inlay::runtime::RangePool;

constexpr int blocks = 50;

// Bytes of a range that the system keeps in memory.
std::size_t resident([[maybe_unused]] const RangePool& pool, [[maybe_unused]] const void* range) {
  std::size_t bytes = 0;
#ifdef __linux__
  const auto page = inlay::base::Reservation::granularity();
  std::vector<unsigned char> pages(pool.segment_bytes() / page);
  REQUIRE(::mincore(const_cast<void*>(range), pool.segment_bytes(), pages.data()) == 0);
  for (const auto flags : pages) bytes += (flags & 1) * page;
#endif
  return bytes;
}

struct Sequence {
  std::vector<std::int32_t> blocks = {};
  std::vector<int> values = {};  // what each is filled with
};

class Sequences {
 public:
  explicit Sequences(unsigned seed) : random_(seed) {}
  ~Sequences() {
    while (!held_.empty()) free(0);
    CHECK(pool_.used() == 0);
    pool_.trim();
    for (std::size_t i = 0; i < 20; ++i) CHECK(pool_.segments()[i] == nullptr);
  }

  void step() {
    const auto choice = random_() % 20;
    if (held_.empty() || (choice == 0 && held_.size() < 12)) held_.emplace_back();
    const auto i = random_() % held_.size();
    if (choice < 12)
      append(held_[i]);
    else if (choice < 14 && held_.size() < 12)
      copy(i);
    else if (choice < 17)
      rewind(held_[i], random_() % (held_[i].blocks.size() + 1));
    else if (choice < 19)
      free(i);
    else
      pool_.trim();
  }

  void check() {
    std::size_t used = 0;
    for (const auto& sequence : held_) {
      used += sequence.blocks.size();
      for (std::size_t i = 0; i < sequence.blocks.size(); ++i) {
        const auto* at = static_cast<const std::byte*>(pool_.address(sequence.blocks[i]));
        REQUIRE(at == static_cast<const std::byte*>(pool_.address(sequence.blocks[0])) + i * pool_.block_bytes());
        REQUIRE(*reinterpret_cast<const int*>(at) == sequence.values[i]);
        REQUIRE(*reinterpret_cast<const int*>(at + pool_.block_bytes() - sizeof(int)) == sequence.values[i]);
      }
      if (sequence.blocks.empty()) continue;
      REQUIRE(resident(pool_, pool_.address(sequence.blocks[0])) <= sequence.blocks.size() * pool_.block_bytes());
    }
    REQUIRE(pool_.used() == used);
  }

 private:
  void append(Sequence& sequence) {
    if (sequence.blocks.size() == std::size_t(blocks)) return rewind(sequence, 1);
    sequence.blocks.push_back(pool_.acquire(sequence.blocks.empty() ? -1 : sequence.blocks.back()));
    sequence.values.push_back(next_++);
    auto* at = static_cast<int*>(pool_.address(sequence.blocks.back()));
    std::fill_n(at, pool_.block_bytes() / sizeof(int), sequence.values.back());
  }
  void copy(std::size_t from) {
    Sequence copied{.values = held_[from].values};
    for (const auto block : held_[from].blocks)
      copied.blocks.push_back(pool_.copy(block, copied.blocks.empty() ? -1 : copied.blocks.back()));
    held_.push_back(std::move(copied));
  }
  void rewind(Sequence& sequence, std::size_t size) {
    sequence.values.resize(size);
    for (; sequence.blocks.size() > size; sequence.blocks.pop_back()) pool_.release(sequence.blocks.back());
  }
  void free(std::size_t i) {
    rewind(held_[i], 0);
    std::swap(held_[i], held_.back());
    held_.pop_back();
  }

  Device device_{inlay::cpu::backend(), {.threads = 1}};
  RangePool pool_{device_, 1000, std::size_t(64) << 20, blocks, 20};
  std::mt19937 random_;
  std::vector<Sequence> held_;
  int next_ = 1;
};

TEST_CASE("whatever sequences do, their blocks lie in a row, and what they let go has no memory") {
  Sequences sequences(4);
  for (int i = 0; i < 50'000; ++i) {
    sequences.step();
    if (i % 100 == 0) sequences.check();
  }
}

TEST_CASE("a pool of ranges has limits for blocks, for ranges and for the length of one") {
  const Device device(inlay::cpu::backend(), {.threads = 1});
  const auto page = inlay::base::Reservation::granularity();
  RangePool few_blocks(device, page, 3 * page, blocks, 20);
  CHECK(few_blocks.capacity() == 3);
  auto last = few_blocks.acquire();
  for (int i = 0; i < 2; ++i) last = few_blocks.acquire(last);
  CHECK_THROWS_AS(few_blocks.acquire(last), inlay::Error);
  few_blocks.release(last);
  CHECK_NOTHROW(few_blocks.acquire());

  RangePool few_ranges(device, page, 100 * page, 2, 2);
  const auto first = few_ranges.acquire(), second = few_ranges.acquire();
  CHECK_THROWS_AS(few_ranges.acquire(), inlay::Error);
  CHECK_THROWS_AS(few_ranges.acquire(few_ranges.acquire(first)), inlay::Error);
  few_ranges.release(second);
  CHECK(few_ranges.acquire() == second);
}

}  // namespace

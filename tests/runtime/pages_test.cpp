// Proves: whatever sessions do with a pool, a block is held as often as it is used, and never written while shared.
#include <map>
#include <random>
#include <span>

#include "cpu/cpu.hpp"
#include "runtime/pages.hpp"
#include "tests/support/catch.hpp"

namespace {

using inlay::runtime::BlockPool;
using inlay::runtime::Device;

// What a session is to the pool, beside what it should be: its tokens as a plain list.
struct Holder {
  std::vector<std::int32_t> pages;
  std::vector<std::int32_t> tokens;
};

class Sessions {
 public:
  Sessions(int page, unsigned seed)
      : page_(std::size_t(page)),
        device_(inlay::cpu::backend(), {.threads = 1}),
        pool_(device_, page_ * sizeof(std::int32_t), std::size_t(8) << 20),
        random_(seed) {}
  ~Sessions() {
    while (!held_.empty()) free(0);
    CHECK(pool_.used() == 0);
  }

  void step() {
    const auto choice = below(100);
    if (held_.empty() || (choice < 5 && held_.size() < 40)) held_.emplace_back();
    const auto i = below(held_.size());
    if (choice < 60)
      append(held_[i], 1 + below(2 * page_ + 1));
    else if (choice < 78 && held_.size() < 40)
      fork(i);
    else if (choice < 90)
      rewind(held_[i], below(held_[i].tokens.size() + 1));
    else if (choice < 98)
      free(i);
    else if (choice < 99)
      pool_.warm(8);
    else
      pool_.trim();
  }

  // Every block is held as often as the naive count says, and every session reads what it wrote.
  void check() {
    std::map<std::int32_t, int> holders;
    for (const auto& session : held_) {
      REQUIRE(session.pages.size() == (session.tokens.size() + page_ - 1) / page_);
      for (const auto page : session.pages) ++holders[page];
      for (std::size_t t = 0; t < session.tokens.size(); ++t)
        if (row(session, t) != session.tokens[t]) FAIL("token " << t << " was overwritten");
    }
    for (const auto& [page, count] : holders) REQUIRE(pool_.holders(page) == count);
    REQUIRE(pool_.used() == holders.size());
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::int32_t& row(const Holder& session, std::size_t t) {
    return static_cast<std::int32_t*>(pool_.address(session.pages[t / page_]))[t % page_];
  }

  void append(Holder& session, std::size_t n) {
    if (session.tokens.size() > 40 * page_) rewind(session, page_);
    for (; n > 0; --n) {
      const auto t = session.tokens.size(), index = t / page_;
      if (index == session.pages.size()) {
        session.pages.push_back(pool_.acquire());
      } else if (pool_.holders(session.pages[index]) > 1) {
        const auto own = pool_.copy(session.pages[index]);
        pool_.release(std::exchange(session.pages[index], own));
      }
      session.tokens.push_back(next_++);
      row(session, t) = session.tokens.back();
    }
  }
  void fork(std::size_t from) {
    for (const auto page : held_[from].pages) pool_.share(page);
    held_.push_back(Holder(held_[from]));
  }
  void rewind(Holder& session, std::size_t length) {
    session.tokens.resize(length);
    for (; session.pages.size() > (length + page_ - 1) / page_; session.pages.pop_back())
      pool_.release(session.pages.back());
  }
  void free(std::size_t i) {
    rewind(held_[i], 0);
    std::swap(held_[i], held_.back());
    held_.pop_back();
  }

  std::size_t page_;
  Device device_;
  BlockPool pool_;
  std::mt19937 random_;
  std::vector<Holder> held_;
  std::int32_t next_ = 0;
};

TEST_CASE("a million forks, appends, rewinds and frees keep every block held as often as it is used") {
  for (const int page : {1, 2, 5, 32}) {
    Sessions sessions(page, unsigned(page));
    for (int i = 0; i < 250'000; ++i) {
      sessions.step();
      if (i % 500 == 0) sessions.check();
    }
    sessions.check();
  }
}

TEST_CASE("memory is found ahead, a block at a time, and no further than the limit") {
  const Device device(inlay::cpu::backend(), {.threads = 1});
  constexpr std::size_t block = 10'000;
  BlockPool pool(device, block, 40 * block);
  const auto in_segment = std::size_t(pool.segment_blocks());
  REQUIRE((in_segment > 4 && in_segment <= 40));
  for (int i = 0; i < 10; ++i) pool.warm(3);
  CHECK(pool.warmed() == 3);
  CHECK(pool.used() == 0);
  CHECK(pool.acquire() == 0);
  CHECK(pool.acquire() == 1);
  pool.warm(3);
  CHECK(pool.warmed() == 4);
  pool.release(1);
  for (int i = 0; i < 10; ++i) pool.warm(3);
  CHECK(pool.warmed() == 4);  // of which three are free
  CHECK(pool.acquire() == 1);
  for (std::size_t i = 0; i < 100; ++i) pool.warm(pool.capacity());
  CHECK(pool.warmed() == pool.capacity());
  for (int i = 2; std::size_t(i) < pool.capacity(); ++i) CHECK(pool.acquire() == i);
  CHECK_THROWS_AS(pool.acquire(), inlay::Error);
  for (int i = 0; std::size_t(i) < pool.capacity(); ++i) pool.release(i);
  pool.trim();
  CHECK(pool.warmed() == 0);
  pool.warm(1);
  CHECK(pool.acquire() == 0);
}

TEST_CASE("a pool hands out what its limit allows, gives idle segments back, and starts anew") {
  Device device(inlay::cpu::backend(), {.threads = 1});
  BlockPool pool(device, std::size_t(512) << 10, std::size_t(4) << 20);
  REQUIRE(pool.capacity() == 8);
  std::vector<std::int32_t> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(pool.acquire());
  CHECK_THROWS_AS(pool.acquire(), inlay::Error);
  CHECK(pool.used() == 8);
  for (const auto block : blocks) pool.release(block);
  pool.trim();
  for (const void* segment : std::span(pool.segments(), pool.capacity() / std::size_t(pool.segment_blocks())))
    CHECK(segment == nullptr);
  CHECK_NOTHROW(pool.acquire());
}

}  // namespace

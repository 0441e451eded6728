// Proves: blocks come back from the file as they went, those used longest ago go first, and budgets are kept.
#include "runtime/tier.hpp"

#include <cstring>
#include <filesystem>
#include <map>
#include <random>

#include "cpu/cpu.hpp"
#include "runtime/pages.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace {

using inlay::runtime::BlockPool;
using inlay::runtime::Device;
using inlay::runtime::Tier;

constexpr std::size_t block_bytes = 4096;

std::string folder() { return std::filesystem::temp_directory_path().string(); }

std::vector<std::byte> filled(int with) { return std::vector<std::byte>(block_bytes, std::byte(with)); }

TEST_CASE("a tier gives back what it was given, takes no more than its budget, and its file has no name") {
  const support::Folder own;
  Tier tier(own.path(), block_bytes, 3 * block_bytes + 1);
  CHECK(own.files() == 0);
  CHECK(tier.capacity() == 3);
  std::vector<std::int32_t> places;
  for (int i = 0; i < 3; ++i) places.push_back(tier.put(filled(i)).value());
  CHECK_FALSE(tier.put(filled(9)).has_value());
  std::vector<std::byte> back(block_bytes);
  for (int i = 2; i >= 0; --i) {
    tier.read(places[std::size_t(i)], back);
    CHECK(back == filled(i));
  }
  tier.free(places[1]);
  CHECK(tier.put(filled(7)) == places[1]);
  tier.read(places[1], back);
  CHECK(back == filled(7));
  CHECK_THROWS_AS(Tier(own.path() + "/no such folder", block_bytes, 1 << 20), inlay::Error);
}

TEST_CASE("whatever is held, pinned and let go, a pool with a tier holds what a plain list holds") {
  const Device device(inlay::cpu::backend(), {.threads = 1});
  constexpr std::size_t in_memory = 8, on_disk = 12, most = in_memory + on_disk - 1;  // one place is for an exchange
  BlockPool pool(
      device, block_bytes, in_memory * block_bytes,
      inlay::base::make<Tier>(std::pmr::new_delete_resource(), folder(), block_bytes, on_disk * block_bytes));
  CHECK(pool.capacity() == most);
  std::mt19937 random(3);
  std::map<std::int32_t, int> held;  // and what they are filled with
  const auto any = [&] { return std::next(held.begin(), std::ptrdiff_t(random() % held.size()))->first; };
  for (int i = 0; i < 20'000; ++i) {
    REQUIRE(pool.in_memory() <= in_memory);
    const auto choice = random() % 10;
    if (choice < 4 && held.size() < most) {
      const auto block = pool.acquire();
      REQUIRE_FALSE(held.contains(block));
      held[block] = int(random() % 256);
      std::memset(pool.address(block), held[block], block_bytes);
    } else if (choice < 6 && !held.empty()) {
      const auto block = any();
      pool.release(block), held.erase(block);
    } else if (!held.empty()) {
      std::vector<std::int32_t> pinned;
      for (std::size_t n = random() % in_memory; n-- > 0;) pool.pin(pinned.emplace_back(any()));
      for (const auto block : pinned) {
        const auto* bytes = static_cast<const std::byte*>(pool.address(block));
        REQUIRE(std::vector(bytes, bytes + block_bytes) == filled(held[block]));
      }
      for (const auto block : pinned) pool.unpin(block);
    }
  }
  while (held.size() < most) held[pool.acquire()] = 0;
  CHECK_THROWS_AS(pool.acquire(), inlay::Error);
  for (const auto& [block, with] : held) pool.release(block);
  CHECK(pool.used() == 0);
  pool.trim();
  CHECK(pool.in_memory() == 0);
}

TEST_CASE("the block that was not used for longest goes first, and a pinned one never") {
  const Device device(inlay::cpu::backend(), {.threads = 1});
  BlockPool pool(device, block_bytes, 3 * block_bytes,
                 inlay::base::make<Tier>(std::pmr::new_delete_resource(), folder(), block_bytes, 3 * block_bytes));
  const auto a = pool.acquire(), b = pool.acquire(), c = pool.acquire();
  pool.pin(a), pool.unpin(a);
  const auto d = pool.acquire();
  CHECK(pool.address(b) == nullptr);
  pool.pin(c);
  const auto e = pool.acquire();
  CHECK(pool.address(a) == nullptr);
  CHECK((pool.address(c) && pool.address(d) && pool.address(e)));
  CHECK_THROWS_AS(pool.acquire(), inlay::Error);  // the file is full
  pool.pin(a);
  CHECK(pool.address(d) == nullptr);
  pool.pin(e);
  CHECK_THROWS_AS(pool.pin(d), inlay::Error);
}

}  // namespace

// Damaged copies of a valid file, the same kinds as those of mutate_session.py beside the malformed fixtures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace support {

using Bytes = std::vector<std::byte>;

namespace mutations {

template <class Word, class Use>
void words(const Bytes& valid, std::size_t head, const Use& use) {
  constexpr Word sign = Word(1) << (8 * sizeof(Word) - 1);
  for (std::size_t p = 0; p + sizeof(Word) <= head; p += 4) {
    Word old;
    std::memcpy(&old, valid.data() + p, sizeof(old));
    for (const Word value : {Word(0), Word(~Word(0)), sign, Word(old + 1), Word((sign >> 1) + 1)}) {
      if (value == old) continue;
      Bytes copy = valid;
      std::memcpy(copy.data() + p, &value, sizeof(value));
      use("the word of " + std::to_string(sizeof(Word)) + " bytes at " + std::to_string(p), copy);
    }
  }
}

inline Bytes random_change(const Bytes& valid, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return std::size_t(random() % n); };
  Bytes copy = valid;
  const auto at = below(copy.size()), left = copy.size() - at;
  const auto begin = copy.begin() + std::ptrdiff_t(at);
  switch (below(5)) {
    case 0: copy[at] ^= std::byte(1 << below(8)); break;
    case 1: std::fill(begin, begin + std::ptrdiff_t(std::min(left, 1 + below(256))), std::byte(0)); break;
    case 2: copy.erase(begin, begin + std::ptrdiff_t(std::min(left, 1 + below(64)))); break;
    case 3: {
      Bytes added(1 + below(16));
      for (auto& byte : added) byte = std::byte(below(256));
      copy.insert(begin, added.begin(), added.end());
      break;
    }
    default: {
      const auto other = below(copy.size());
      const auto size = std::min({1 + below(128), left, copy.size() - other});
      std::swap_ranges(begin, begin + std::ptrdiff_t(size), copy.begin() + std::ptrdiff_t(other));
    }
  }
  return copy;
}

}  // namespace mutations

// Calls use(name, copy) for each damaged copy: cuts, appendices, inverted bytes and changed words of the first 512
// bytes, and `random` changes anywhere.
template <class Use>
void each_mutation(const Bytes& valid, int random, const Use& use) {
  const auto n = valid.size();
  std::set<std::size_t> cuts = {0,  1,  3,     4,     7,         8,      12,    16,    24,
                                32, 64, n / 4, n / 2, 3 * n / 4, n - 64, n - 8, n - 4, n - 1};
  for (std::size_t cut = 128; cut < n; cut *= 2) cuts.insert(cut);
  for (const auto cut : cuts)
    if (cut < n) use("cut at " + std::to_string(cut), Bytes(valid.begin(), valid.begin() + std::ptrdiff_t(cut)));
  for (const std::size_t more : {1, 4096}) {
    Bytes copy = valid;
    copy.resize(n + more);
    use(std::to_string(more) + " zeros appended", copy);
    std::copy_n(valid.begin(), std::min(n, more), copy.begin() + std::ptrdiff_t(n));
    use(std::to_string(more) + " bytes of itself appended", copy);
  }
  const auto head = std::min<std::size_t>(n, 512);
  for (std::size_t p = 0; p < head; ++p) {
    Bytes copy = valid;
    copy[p] ^= std::byte(0xFF);
    use("inverted byte " + std::to_string(p), copy);
  }
  mutations::words<std::uint32_t>(valid, head, use);
  mutations::words<std::uint64_t>(valid, head, use);
  std::mt19937_64 generator(1);
  for (int i = 0; i < random; ++i)
    if (const auto copy = mutations::random_change(valid, generator); copy != valid)
      use("random change " + std::to_string(i), copy);
}

}  // namespace support

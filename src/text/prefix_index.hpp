// Which entries does this text begin with? Sorted texts, narrowed byte by byte.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace inlay::text {

class PrefixIndex {
 public:
  struct Entry {
    std::string_view text;  // must outlive the index, and not be empty
    TokenId id = -1;
  };

  using Entries = std::pmr::vector<Entry>;

  explicit PrefixIndex(Entries entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
    for (const Entry& entry : entries_) ++starts_[first_byte(entry.text) + 1];
    for (std::size_t byte = 0; byte < 256; ++byte) starts_[byte + 1] += starts_[byte];
  }

  // Calls found(entry) for each entry that `text` begins with, shortest first.
  template <class Found>
  void for_each(std::string_view text, Found found) const {
    if (text.empty()) return;
    auto low = entries_.begin() + starts_[first_byte(text)];
    auto high = entries_.begin() + starts_[first_byte(text) + 1];
    for (std::size_t depth = 1; low != high; ++depth) {
      if (low->text.size() == depth) found(*low++);
      if (depth == text.size() || low == high) return;
      const auto at = [depth](const Entry& entry) { return static_cast<std::uint8_t>(entry.text[depth]); };
      const auto byte = static_cast<std::uint8_t>(text[depth]);
      low = std::partition_point(low, high, [&](const Entry& entry) { return at(entry) < byte; });
      high = std::partition_point(low, high, [&](const Entry& entry) { return at(entry) == byte; });
    }
  }

  // The longest entry that `text` begins with; its text is empty where there is none.
  Entry longest(std::string_view text) const {
    Entry best;
    for_each(text, [&](const Entry& entry) { best = entry; });
    return best;
  }

 private:
  static std::size_t first_byte(std::string_view text) { return static_cast<std::uint8_t>(text.front()); }

  Entries entries_;
  std::array<std::uint32_t, 257> starts_{};  // entries whose first byte is b: from starts_[b] to starts_[b + 1]
};

}  // namespace inlay::text

// Finds the tokens that stand in text as a whole: control tokens where they may be spelled, user-defined ones anywhere.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "text/pattern.hpp"
#include "text/prefix_index.hpp"
#include "text/vocabulary.hpp"

namespace inlay::text {

class SpecialTokens {
 public:
  // Raw text, perhaps empty, and the special token after it; -1 after the last.
  struct Fragment {
    std::string_view raw;
    TokenId id = -1;
  };

  explicit SpecialTokens(const Vocabulary& vocabulary);

  // At each place the longest token wins. Control tokens count only inside one of the `parsed` ranges, which are in
  // order and do not touch.
  std::pmr::vector<Fragment> partition(std::string_view text, std::span<const Range> parsed) const;

 private:
  PrefixIndex::Entry longest(std::string_view text, std::size_t parsed) const;
  bool swallows_left(TokenId id) const { return id == mask_; }
  bool swallows_right(TokenId id) const;

  const Vocabulary& vocabulary_;
  PrefixIndex tokens_;
  std::array<bool, 256> starts_{};  // bytes that a special token begins with
  TokenId mask_ = -1;               // takes the white space on its left with it
  bool is_phi3_ = false;
};

}  // namespace inlay::text

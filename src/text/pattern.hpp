// One regular expression over UTF-8 text.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string_view>

#include "base/memory.hpp"

namespace inlay::text {

struct Range {
  std::size_t begin = 0, end = 0;  // bytes
};

// Immutable, and safe to share between threads. PCRE2's syntax; \s is exactly Unicode's White_Space.
class Pattern {
 public:
  // Memory that matching needs: one for each thread, good for any pattern.
  class Scratch {
   public:
    explicit Scratch(std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
    ~Scratch();

   private:
    friend class Pattern;
    struct State;
    base::Owned<State> state_;
  };

  explicit Pattern(std::string_view expression, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  Pattern(Pattern&&) noexcept;
  ~Pattern();

  // The first match at or after `from`, never empty. `text` must be valid UTF-8, and `from` a character's start.
  std::optional<Range> find(std::string_view text, std::size_t from, Scratch& scratch) const;

 private:
  struct State;
  base::Owned<const State> state_;
};

}  // namespace inlay::text

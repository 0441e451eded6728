// Cuts text into words as a pre-tokenizer's steps say.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "text/pattern.hpp"
#include "text/pre_tokenizer.hpp"

namespace inlay::text {

class Splitter {
 public:
  explicit Splitter(const PreTokenizer& rules, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  // Where each piece ends, in bytes; nothing is lost. `text` must be valid UTF-8.
  std::pmr::vector<std::uint32_t> split(std::string_view text) const;

 private:
  struct Compiled {
    Step::Rule rule;
    Pattern pattern;
  };

  std::pmr::vector<Compiled> steps_;
};

}  // namespace inlay::text

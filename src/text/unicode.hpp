// What vocabularies need to know of Unicode: white space, small letters, letters without accents.
#pragma once

#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inlay::text {

// Broken bytes become U+FFFD, one for each.
std::pmr::string to_valid_utf8(std::string_view text,
                               std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

bool is_white_space(char32_t code);
char32_t to_lower(char32_t code);                                                     // one code to one
std::pmr::string to_lower(std::string_view text, std::pmr::memory_resource* memory);  // valid UTF-8

// Canonical decomposition without nonspacing marks: e for é. Loose marks stay.
class BaseLetters {
 public:
  explicit BaseLetters(std::pmr::memory_resource* memory);
  // Appends what `code` decomposes to.
  void append(char32_t code, std::u32string& out) const;

 private:
  std::pmr::vector<std::pair<char32_t, std::pmr::u32string>> decomposed_;  // sorted
};

}  // namespace inlay::text

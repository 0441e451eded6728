// What of a text a guard lets be shown.
#pragma once

#include <string>

#include "inlay/sampler.hpp"

namespace inlay {
inline namespace v0 {

// Whether a byte of UTF-8 is none that a character begins with.
inline bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

class Watch {
 public:
  explicit Watch(Guard guard) : guard_(std::move(guard)) {}

  bool admits(std::string_view prompt) const;

  // Takes more of the text, and appends to `shown` what may be shown now: it was seen by the guard together with all
  // that follows it in the window. False: the guard ends the text.
  bool pass(std::string_view more, bool last, std::string& shown);

 private:
  bool stops(Verdict verdict);
  std::size_t ready(bool last) const;

  Guard guard_;
  std::string held_, whole_;  // not shown yet; all of the text, where the guard wants it
};

}  // namespace v0
}  // namespace inlay

// Where each byte of a rendered prompt came from, so that a user's text can never pass for a control token.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay::text {

struct Span {
  // Only template_text may spell control tokens. `other` is text whose speaker is unknown or that mixes several.
  enum class Kind : std::uint8_t { template_text, system, user, assistant, tool, other };

  std::size_t begin;
  std::size_t end;
  Kind kind;
};

}  // namespace inlay::text

// A language that the output must belong to.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "inlay/version.hpp"

namespace inlay {
inline namespace v0 {

/// A language that the output must belong to. Empty: any text. Cheap to copy;
/// compile once and use for many sessions, on any thread.
class INLAY_API Grammar {
 public:
  Grammar() = default;
  static Grammar json();                                          ///< any JSON value
  static Grammar json_schema(std::string_view schema);            ///< throws Error{argument} at the keyword it cannot honour
  static Grammar regex(std::string_view pattern);
  static Grammar choice(std::span<const std::string_view> texts); ///< exactly one of these
  static Grammar gbnf(std::string_view rules);                    ///< llama.cpp's notation

  explicit operator bool() const noexcept { return bool(rules_); }

 private:
  std::shared_ptr<const struct GrammarRules> rules_;
};

}  // namespace v0
}  // namespace inlay

// Grammars: languages that generated text must belong to.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "inlay/version.hpp"

namespace inlay {
inline namespace v0 {

struct GrammarRules;

/// What json_schema() does with a keyword that a grammar cannot express.
enum class Unsupported { refuse, ignore };

/// How a text stands to a grammar: it cannot belong to it, more must follow, or it belongs to it as it is.
enum class Match { none, prefix, whole };

/// A language that the output must belong to. Empty: any text. Cheap to copy;
/// compile once and use for many sessions, on any thread. Every compiler throws
/// Error{argument}; its where() is the place at fault: a JSON pointer into the
/// schema, line:column of the rules, the byte of the pattern.
class INLAY_API Grammar {
 public:
  Grammar() = default;
  static Grammar json();  ///< any JSON value

  /// JSON that is valid under a schema of draft 2020-12 or draft-07. Members stand in the schema's order. With
  /// Unsupported::ignore the text may break a keyword that cannot be honoured; with `refuse` that keyword is an error.
  static Grammar json_schema(std::string_view schema, Unsupported = Unsupported::refuse);
  static Grammar regex(std::string_view pattern);                  ///< text that the pattern matches as a whole
  static Grammar choice(std::span<const std::string_view> texts);  ///< exactly one of these
  static Grammar gbnf(std::string_view rules);  ///< llama.cpp's notation; of two rules of one name the later counts

  /// Throws Error{argument, Fault::limit} where finding out takes too much.
  Match match(std::string_view text) const;

  explicit operator bool() const noexcept { return bool(rules_); }

 private:
  friend struct GrammarRules;
  explicit Grammar(std::shared_ptr<const GrammarRules> rules) noexcept : rules_(std::move(rules)) {}
  std::shared_ptr<const GrammarRules> rules_;
};

}  // namespace v0
}  // namespace inlay

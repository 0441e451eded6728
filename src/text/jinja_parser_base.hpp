// What both halves of the parser share: the token at hand, depth, names, and nodes in the arena.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja_ast.hpp"
#include "text/jinja_lexer.hpp"

namespace inlay::text::jinja {

class ParserBase {
 public:
  ParserBase(Arena& arena, std::string_view source) : arena_(arena), lexer_(source) { advance(); }

 protected:
  // Counts one level of nesting for as long as it lives.
  class Level {
   public:
    explicit Level(ParserBase& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest) parser_.fail_here(Trouble::limit, "the template is nested too deeply");
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ParserBase& parser_;
  };

  void advance() {
    if (has_following_) {
      token_ = std::move(following_);
      has_following_ = false;
    } else {
      token_ = lexer_.next();
    }
  }

  // The token after the one at hand, which must not be the last of its tag.
  const Token& following() {
    if (!has_following_) following_ = lexer_.next();
    has_following_ = true;
    return following_;
  }

  bool take_name(std::string_view word) {
    if (!token_.is_name(word)) return false;
    advance();
    return true;
  }

  bool take_symbol(std::string_view sign) {
    if (!token_.is_symbol(sign)) return false;
    advance();
    return true;
  }

  void expect_name(std::string_view word) {
    if (!take_name(word)) fail_here(Trouble::syntax, "expected '" + std::string(word) + "'");
  }

  void expect_symbol(std::string_view sign) {
    if (!take_symbol(sign)) fail_here(Trouble::syntax, "expected '" + std::string(sign) + "'");
  }

  std::string_view expect_any_name() {
    if (token_.kind != Token::Kind::name) fail_here(Trouble::syntax, "expected a name");
    const std::string_view name = token_.text;
    advance();
    return name;
  }

  void expect(Token::Kind kind, const char* what) {
    if (token_.kind != kind) fail_here(Trouble::syntax, std::string("expected ") + what);
    advance();
  }

  [[noreturn]] void fail_here(Trouble kind, const std::string& sentence) {
    lexer_.fail_at(token_.offset, kind, sentence);
  }

  TextRef literal(std::string_view bytes) { return Text::copy(arena_, bytes, Origin::template_text); }
  TextRef view(std::string_view bytes) { return Text::flat(arena_, bytes, Origin::template_text); }

  NameId name_id(std::string_view name) {
    const auto [found, is_new] = ids_.try_emplace(name, static_cast<NameId>(names_.size()));
    if (is_new) {
      arena_.budget().take_memory(128);  // what the tables cost
      names_.push_back(view(name));
      uses_.push_back(0);
    }
    ++uses_[found->second];
    return found->second;
  }

  // How often the name stands in what was read so far.
  std::size_t uses(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? 0 : uses_[found->second];
  }

  void remark(std::string_view before, std::string_view name, std::string_view after) {
    const std::string sentence = std::string(before) + std::string(name.substr(0, 80)) + std::string(after);
    const bool is_known = std::find(remarks_.begin(), remarks_.end(), sentence) != remarks_.end();
    if (!is_known && remarks_.size() < most_remarks) remarks_.push_back(arena_.copy(std::string_view(sentence)));
  }

  Arena& arena_;
  Lexer lexer_;
  Token token_;
  std::vector<TextRef> names_;
  std::vector<std::string_view> remarks_;

 private:
  static constexpr std::size_t most_remarks = 32;
  static constexpr int deepest = 120;

  Token following_;
  bool has_following_ = false;
  int depth_ = 0;
  std::unordered_map<std::string_view, NameId> ids_;
  std::vector<std::size_t> uses_;
};

}  // namespace inlay::text::jinja

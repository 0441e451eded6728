// Expressions over characters, the common form of patterns and of rules, and their way into an automaton.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/automaton.hpp"
#include "text/grammar_chars.hpp"

namespace inlay::text {

using ExpressionId = std::uint32_t;

enum class Form : std::uint8_t { empty, character, chars, sequence, choice, repeat, reference, begin, end };

// A tree in one array. Its depth is that of its text, which parsers limit.
class Expressions {
 public:
  struct Node {
    Form form = Form::empty;
    bool anchored = false;               // has a `begin` or an `end` within
    std::uint32_t first = 0, count = 0;  // children; character: the code; chars: the set; reference: whose
    std::uint32_t least = 0, most = 0;   // repeat
    std::uint32_t weight = 1;            // about how many nodes of an automaton it takes
  };

  ExpressionId empty() { return add({}); }
  ExpressionId character(char32_t code) { return add({Form::character, false, code}); }
  ExpressionId chars(CharSet set);
  ExpressionId text(std::string_view utf8);
  ExpressionId sequence(std::span<const ExpressionId> parts) { return list(Form::sequence, parts); }
  ExpressionId choice(std::span<const ExpressionId> parts) { return list(Form::choice, parts); }
  ExpressionId repeat(ExpressionId part, std::uint32_t least, std::uint32_t most);
  ExpressionId reference(std::uint32_t name) { return add({Form::reference, false, name}); }
  ExpressionId anchor(Form side) { return add({side, true}); }

  const Node& operator[](ExpressionId id) const { return nodes_[id]; }
  std::span<const ExpressionId> parts(ExpressionId id) const {
    return std::span(parts_).subspan(nodes_[id].first, nodes_[id].count);
  }
  const CharSet& set(ExpressionId id) const { return sets_[nodes_[id].first]; }
  std::size_t size() const { return nodes_.size(); }

 private:
  ExpressionId add(Node node);
  ExpressionId list(Form form, std::span<const ExpressionId> parts);
  std::vector<Node> nodes_;
  std::vector<ExpressionId> parts_;
  std::vector<CharSet> sets_;
};

// How characters become bytes: as they are, or as the content of a JSON string, where some may or must be escaped.
enum class Spelling { utf8, json };

// Writes characters into an automaton; what different characters end with is shared.
class Speller {
 public:
  explicit Speller(Automaton& automaton) : automaton_(automaton) {}
  void spell(Spelling spelling, const CharSet& set, NodeId from, NodeId to);
  void spell(Spelling spelling, char32_t code, NodeId from, NodeId to);
  void hexadecimal(std::uint32_t first, std::uint32_t last, NodeId from, NodeId to);  // four digits

 private:
  void utf8(const CharSet& set, NodeId from, NodeId to);
  void escapes(const CharSet& set, NodeId from, NodeId to);
  void unicode_escapes(const CharSet& set, NodeId from, NodeId to);
  void hex_digit(std::uint8_t first, std::uint8_t last, NodeId from, NodeId to);
  NodeId before(bool hex, std::uint8_t first, std::uint8_t last, NodeId to);

  Automaton& automaton_;
  std::unordered_map<std::uint64_t, NodeId> tails_;
};

// Writes expressions into an automaton.
class Emitter {
 public:
  // `refer` writes a reference.
  using Refer = std::function<void(std::uint32_t name, NodeId from, NodeId to)>;
  Emitter(Automaton& automaton, Speller& speller, const Expressions& expressions, Spelling spelling, Refer refer = {})
      : automaton_(automaton),
        speller_(speller),
        expressions_(expressions),
        spelling_(spelling),
        refer_(std::move(refer)) {}
  void emit(ExpressionId id, NodeId from, NodeId to);

 private:
  void emit_sequence(ExpressionId id, NodeId from, NodeId to);
  void emit_repeat(ExpressionId id, NodeId from, NodeId to);
  Automaton& automaton_;
  Speller& speller_;
  const Expressions& expressions_;
  Spelling spelling_;
  Refer refer_;
};

}  // namespace inlay::text

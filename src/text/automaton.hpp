// A pushdown automaton over bytes: what every grammar is compiled to.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::text {

using NodeId = std::uint32_t;
using RuleId = std::uint32_t;
inline constexpr std::uint32_t no_id = 0xFFFFFFFF;
inline constexpr std::uint32_t unbounded = 0xFFFFFFFF;
inline constexpr std::uint32_t most_repeats = 0x3FFFFFFF;  // the largest count that may be asked for

// One way on from a node: read a byte of a range, read nothing, read a sentence of a rule, or repeat a rule.
struct Arc {
  enum class Kind : std::uint8_t { byte, empty, call, repeat };
  Kind kind = Kind::empty;
  std::uint8_t first = 0, last = 0;  // byte
  NodeId to = no_id;
  std::uint32_t what = no_id;  // call: the rule; repeat: which of the automaton's counters
  std::uint32_t next = no_id;  // the node's next arc
};

struct Rule {
  NodeId entry = no_id, exit = no_id;
  std::string name;
};

// A counter. It is never unrolled: the count lives on the stack of whoever runs the automaton.
struct Repeat {
  RuleId body = no_id;
  std::uint32_t least = 0, most = unbounded;
  NodeId to = no_id;
};

class Automaton {
 public:
  // Building. A node is a place; arcs lead from it. Throws Error{limit} when there are too many.
  NodeId add_node();
  RuleId add_rule(std::string name);
  void add_byte(NodeId from, std::uint8_t first, std::uint8_t last, NodeId to);
  void add_empty(NodeId from, NodeId to);
  void add_call(NodeId from, RuleId rule, NodeId to);
  void add_repeat(NodeId from, RuleId body, std::uint32_t least, std::uint32_t most, NodeId to);
  void add_text(NodeId from, std::string_view bytes, NodeId to);

  // Copies a finished automaton into this one. Returns the copy of its root.
  RuleId adopt(const Automaton& other);

  // Ends the building: removes what cannot lead to an end of `root`, refuses left recursion and empty languages, and
  // groups the bytes that no arc tells apart.
  void finish(RuleId root);

  RuleId root() const { return root_; }
  const Rule& rule(RuleId id) const { return rules_[id]; }
  const Repeat& repeat(std::uint32_t id) const { return repeats_[id]; }
  std::size_t rule_count() const { return rules_.size(); }
  std::size_t node_count() const { return first_.size(); }
  std::size_t arc_count() const { return arcs_.size(); }
  bool is_exit(NodeId node) const { return exit_[node]; }

  // Known after finish(): whether the rule derives anything at all, and whether it derives the empty text.
  bool productive(RuleId rule) const { return productive_[rule]; }
  bool nullable(RuleId rule) const { return nullable_[rule]; }

  std::size_t class_count() const { return samples_.size(); }
  std::uint8_t byte_class(std::uint8_t byte) const { return classes_[byte]; }
  std::uint8_t class_sample(std::size_t index) const { return samples_[index]; }  // a byte of the class

  template <typename F>
  void each_arc(NodeId node, F&& visit) const {
    for (std::uint32_t at = first_[node]; at != no_id; at = arcs_[at].next) visit(arcs_[at]);
  }

 private:
  void add_arc(NodeId from, Arc arc);
  void remove_hopeless_arcs(const std::vector<std::uint64_t>& shortest);
  void group_bytes();

  std::vector<std::uint32_t> first_;  // of each node: its newest arc
  std::vector<Arc> arcs_;
  std::vector<Rule> rules_;
  std::vector<Repeat> repeats_;
  std::vector<bool> exit_, productive_, nullable_;
  std::array<std::uint8_t, 256> classes_{};
  std::vector<std::uint8_t> samples_;
  RuleId root_ = no_id;
};

}  // namespace inlay::text

// Building an automaton, and making a finished one fit to run.
#include "text/automaton.hpp"

#include "text/automaton_analysis.hpp"
#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_nodes = 1u << 19, most_arcs = 1u << 20;
constexpr std::uint64_t longest_shortest_text = 1u << 20;  // bytes that every sentence may need at least

[[noreturn]] void refuse_size() {
  refuse(Flaw::limit, "the grammar is too large: it needs more than half a million states");
}

}  // namespace

NodeId Automaton::add_node() {
  if (first_.size() == most_nodes) refuse_size();
  first_.push_back(no_id);
  exit_.push_back(false);
  return static_cast<NodeId>(first_.size() - 1);
}

RuleId Automaton::add_rule(std::string name) {
  const NodeId entry = add_node(), exit = add_node();
  exit_[exit] = true;
  rules_.push_back({entry, exit, std::move(name)});
  return static_cast<RuleId>(rules_.size() - 1);
}

void Automaton::add_arc(NodeId from, Arc arc) {
  if (arcs_.size() == most_arcs) refuse_size();
  // One large step at the end instead of doubling, which needs room for both.
  if (arcs_.size() == arcs_.capacity() && arcs_.size() >= most_arcs / 8) arcs_.reserve(most_arcs);
  arc.next = first_[from];
  first_[from] = static_cast<std::uint32_t>(arcs_.size());
  arcs_.push_back(arc);
}

void Automaton::add_byte(NodeId from, std::uint8_t first, std::uint8_t last, NodeId to) {
  add_arc(from, {Arc::Kind::byte, first, last, to});
}

void Automaton::add_empty(NodeId from, NodeId to) { add_arc(from, {Arc::Kind::empty, 0, 0, to}); }

void Automaton::add_call(NodeId from, RuleId rule, NodeId to) { add_arc(from, {Arc::Kind::call, 0, 0, to, rule}); }

void Automaton::add_repeat(NodeId from, RuleId body, std::uint32_t least, std::uint32_t most, NodeId to) {
  if (most == 0) return add_empty(from, to);
  add_arc(from, {Arc::Kind::repeat, 0, 0, to, static_cast<std::uint32_t>(repeats_.size())});
  repeats_.push_back({body, least, most, to});
}

void Automaton::add_text(NodeId from, std::string_view bytes, NodeId to) {
  if (bytes.empty()) return add_empty(from, to);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const NodeId after = i + 1 == bytes.size() ? to : add_node();
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    add_byte(from, byte, byte, after);
    from = after;
  }
}

RuleId Automaton::adopt(const Automaton& other) {
  const auto nodes = static_cast<NodeId>(first_.size());
  const auto rules = static_cast<RuleId>(rules_.size()), repeats = static_cast<std::uint32_t>(repeats_.size());
  for (NodeId node = 0; node < other.node_count(); ++node) exit_[add_node()] = other.is_exit(node);
  for (const Rule& rule : other.rules_) rules_.push_back({rule.entry + nodes, rule.exit + nodes, rule.name});
  for (const Repeat& repeat : other.repeats_) {
    repeats_.push_back({repeat.body + rules, repeat.least, repeat.most, repeat.to + nodes});
  }
  for (NodeId node = 0; node < other.node_count(); ++node) {
    other.each_arc(node, [&](Arc arc) {
      arc.to += nodes;
      if (arc.kind == Arc::Kind::call) arc.what += rules;
      if (arc.kind == Arc::Kind::repeat) arc.what += repeats;
      add_arc(node + nodes, arc);
    });
  }
  return other.root_ + rules;
}

void Automaton::finish(RuleId root) {
  root_ = root;
  const auto shortest = shortest_texts(*this);
  const std::uint64_t least = shortest[rules_[root].entry];
  if (least == no_text) refuse(Flaw::unsatisfiable, "no text can satisfy the grammar");
  if (least > longest_shortest_text) {
    refuse(Flaw::limit, "every sentence of the grammar is longer than a million bytes: a repetition is too large");
  }
  for (const Rule& rule : rules_) {
    productive_.push_back(shortest[rule.entry] != no_text);
    nullable_.push_back(shortest[rule.entry] == 0);
  }
  remove_hopeless_arcs(shortest);
  const RuleId looping = left_recursive_rule(*this, shortest);
  if (looping != no_id) {
    refuse(Flaw::left_recursion,
           "left recursion: rule '" + rules_[looping].name + "' reaches itself without reading a character",
           rules_[looping].name);
  }
  // A body that may be empty can stand in for any number of missing rounds.
  for (Repeat& repeat : repeats_) {
    if (nullable_[repeat.body]) repeat.least = 0;
  }
  group_bytes();
}

void Automaton::remove_hopeless_arcs(const std::vector<std::uint64_t>& shortest) {
  const auto hopeless = [&](Arc& arc) {
    if (shortest[arc.to] == no_text) return true;
    if (arc.kind == Arc::Kind::call) return !productive_[arc.what];
    if (arc.kind != Arc::Kind::repeat || productive_[repeats_[arc.what].body]) return false;
    if (repeats_[arc.what].least > 0) return true;
    arc.kind = Arc::Kind::empty;
    return false;
  };
  for (std::uint32_t& head : first_) {
    for (std::uint32_t* link = &head; *link != no_id;) {
      Arc& arc = arcs_[*link];
      if (hopeless(arc)) {
        *link = arc.next;
      } else {
        link = &arc.next;
      }
    }
  }
}

void Automaton::group_bytes() {
  std::array<bool, 257> starts{};
  for (NodeId node = 0; node < first_.size(); ++node) {
    each_arc(node, [&](const Arc& arc) {
      if (arc.kind == Arc::Kind::byte) starts[arc.first] = starts[arc.last + 1] = true;
    });
  }
  starts[0] = true;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (starts[byte]) samples_.push_back(static_cast<std::uint8_t>(byte));
    classes_[byte] = static_cast<std::uint8_t>(samples_.size() - 1);
  }
}

}  // namespace inlay::text

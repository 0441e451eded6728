// What can be known of an automaton before it runs. Nothing here recurses: grammars may be chains of 100,000 rules.
#include "text/automaton_analysis.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/checked.hpp"

namespace inlay::text {
namespace {

struct Use {
  NodeId from;
  const Arc* arc;
};

// The arcs whose length depends on a node: those that lead to it, and those that begin a rule there.
class Uses {
 public:
  explicit Uses(const Automaton& automaton) : begin_(automaton.node_count() + 1) {
    each(automaton, [&](NodeId node, Use) { ++begin_[node]; });
    std::uint32_t total = 0;
    for (auto& count : begin_) count = std::exchange(total, total + count);
    uses_.resize(total);
    auto at = begin_;
    each(automaton, [&](NodeId node, Use use) { uses_[at[node]++] = use; });
  }
  std::pair<const Use*, const Use*> of(NodeId node) const {
    return {uses_.data() + begin_[node], uses_.data() + begin_[node + 1]};
  }

 private:
  template <typename F>
  static void each(const Automaton& automaton, F&& visit) {
    for (NodeId from = 0; from < automaton.node_count(); ++from) {
      automaton.each_arc(from, [&](const Arc& arc) {
        visit(arc.to, Use{from, &arc});
        if (arc.kind == Arc::Kind::call) visit(automaton.rule(arc.what).entry, Use{from, &arc});
        if (arc.kind == Arc::Kind::repeat)
          visit(automaton.rule(automaton.repeat(arc.what).body).entry, Use{from, &arc});
      });
    }
  }
  std::vector<std::uint32_t> begin_;
  std::vector<Use> uses_;
};

constexpr std::uint64_t longest = no_text - 1;  // stands for every length that does not fit

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return std::min(longest, base::checked_add(a, b).value_or(longest));
}
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return base::checked_multiply(a, b).value_or(longest); }

std::uint64_t length_through(const Automaton& automaton, const Arc& arc, const std::vector<std::uint64_t>& shortest) {
  const std::uint64_t rest = shortest[arc.to];
  std::uint64_t own = arc.kind == Arc::Kind::byte ? 1 : 0;
  if (arc.kind == Arc::Kind::call) own = shortest[automaton.rule(arc.what).entry];
  if (arc.kind == Arc::Kind::repeat) {
    const Repeat& repeat = automaton.repeat(arc.what);
    const std::uint64_t body = shortest[automaton.rule(repeat.body).entry];
    if (repeat.least > 0) own = body == no_text ? no_text : times(repeat.least, body);
  }
  return own == no_text || rest == no_text ? no_text : plus(own, rest);
}

}  // namespace

// Knuth's generalisation of Dijkstra's algorithm: nodes become final in the order of their lengths.
std::vector<std::uint64_t> shortest_texts(const Automaton& automaton) {
  const Uses uses(automaton);
  std::vector<std::uint64_t> shortest(automaton.node_count(), no_text), open(automaton.node_count(), no_text);
  using Entry = std::pair<std::uint64_t, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (NodeId node = 0; node < automaton.node_count(); ++node) {
    if (automaton.is_exit(node)) queue.push({open[node] = 0, node});
  }
  while (!queue.empty()) {
    const auto [length, node] = queue.top();
    queue.pop();
    if (shortest[node] != no_text) continue;
    shortest[node] = length;
    for (auto [use, end] = uses.of(node); use != end; ++use) {
      const std::uint64_t candidate = length_through(automaton, *use->arc, shortest);
      if (candidate < open[use->from]) queue.push({open[use->from] = candidate, use->from});
    }
  }
  return shortest;
}

namespace {

// Tarjan's components of the graph of moves that read nothing, with its own stack.
class SilentComponents {
 public:
  SilentComponents(const Automaton& automaton, const std::vector<std::uint64_t>& shortest)
      : automaton_(automaton),
        shortest_(shortest),
        seen_(automaton.node_count()),
        low_(automaton.node_count()),
        component_(automaton.node_count(), no_id) {}

  // Every node that the root reaches by any moves.
  void walk_from(NodeId root) {
    std::vector<NodeId> ahead{root};
    std::vector<bool> reached(automaton_.node_count());
    reached[root] = true;
    while (!ahead.empty()) {
      const NodeId node = ahead.back();
      ahead.pop_back();
      nodes_.push_back(node);
      if (seen_[node] == 0) close(node);
      const auto reach = [&](NodeId to) {
        if (!reached[to]) reached[to] = true, ahead.push_back(to);
      };
      automaton_.each_arc(node, [&](const Arc& arc) {
        reach(arc.to);
        if (const RuleId rule = entered(arc); rule != no_id) reach(automaton_.rule(rule).entry);
      });
    }
  }

  RuleId rule_in_a_loop() const {
    RuleId found = no_id;
    for (const NodeId node : nodes_) {
      automaton_.each_arc(node, [&](const Arc& arc) {
        const RuleId rule = entered(arc);
        if (rule != no_id && component_[automaton_.rule(rule).entry] == component_[node]) found = rule;
      });
    }
    return found;
  }

 private:
  RuleId entered(const Arc& arc) const {
    if (arc.kind == Arc::Kind::call) return arc.what;
    return arc.kind == Arc::Kind::repeat ? automaton_.repeat(arc.what).body : no_id;
  }

  std::vector<NodeId> silent_moves(NodeId node) const {
    std::vector<NodeId> out;
    automaton_.each_arc(node, [&](const Arc& arc) {
      const RuleId rule = entered(arc);
      if (rule != no_id) out.push_back(automaton_.rule(rule).entry);
      const bool optional = arc.kind == Arc::Kind::repeat && automaton_.repeat(arc.what).least == 0;
      const bool skips = rule != no_id && (optional || shortest_[automaton_.rule(rule).entry] == 0);
      if (arc.kind == Arc::Kind::empty || skips) out.push_back(arc.to);
    });
    return out;
  }

  struct Visit {
    NodeId node;
    std::vector<NodeId> moves;
    std::size_t next = 0;
  };

  void enter(NodeId node) {
    seen_[node] = low_[node] = ++clock_;
    open_.push_back(node);
    path_.push_back({node, silent_moves(node)});
  }

  void close(NodeId start) {
    enter(start);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      if (visit.next < visit.moves.size()) {
        const NodeId to = visit.moves[visit.next++];
        if (seen_[to] == 0) {
          enter(to);
        } else if (component_[to] == no_id) {
          low_[visit.node] = std::min(low_[visit.node], seen_[to]);
        }
        continue;
      }
      leave(visit.node);
    }
  }

  void leave(NodeId node) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] != seen_[node]) return;
    for (bool more = true; more;) {
      more = open_.back() != node;
      component_[open_.back()] = node;
      open_.pop_back();
    }
  }

  const Automaton& automaton_;
  const std::vector<std::uint64_t>& shortest_;
  std::vector<std::uint32_t> seen_, low_;
  std::vector<NodeId> component_, open_, nodes_;
  std::vector<Visit> path_;
  std::uint32_t clock_ = 0;
};

}  // namespace

RuleId left_recursive_rule(const Automaton& automaton, const std::vector<std::uint64_t>& shortest) {
  SilentComponents components(automaton, shortest);
  components.walk_from(automaton.rule(automaton.root()).entry);
  return components.rule_in_a_loop();
}

}  // namespace inlay::text

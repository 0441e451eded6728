// Intersection and complement of patterns: all patterns run side by side, and their states together are one state.
#include "text/regex_sets.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/utf8.hpp"
#include "text/regex_places.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_states = 1u << 13, most_steps = 1u << 24;

// Characters that no pattern tells apart, as the first of each class in order.
class Classes {
 public:
  explicit Classes(const Places& places) {
    std::set<char32_t> starts{0};
    for (std::uint32_t place = 0; place < places.size(); ++place) {
      for (const Places::Move& move : places.moves(place)) {
        if (!move.chars) continue;
        for (const CharRange range : move.chars->ranges()) starts.insert(range.first), starts.insert(range.last + 1);
      }
    }
    starts_.assign(starts.begin(), starts.end());
    while (starts_.back() > 0x10FFFF) starts_.pop_back();
  }
  std::size_t size() const { return starts_.size(); }
  CharRange range(std::size_t index) const {
    return {starts_[index], index + 1 < starts_.size() ? starts_[index + 1] - 1 : 0x10FFFF};
  }
  template <typename F>
  void each_in(const CharSet& set, F&& visit) const {
    for (const CharRange range : set.ranges()) {
      const auto at = std::ranges::lower_bound(starts_, range.first);
      for (auto i = static_cast<std::size_t>(at - starts_.begin()); i < starts_.size() && starts_[i] <= range.last; ++i)
        visit(i);
    }
  }

 private:
  std::vector<char32_t> starts_;
};

using Together = std::vector<std::uint32_t>;  // sorted places

Together close(const Places& places, Together open) {
  std::set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t place = open.back();
    open.pop_back();
    for (const Places::Move& move : places.moves(place)) {
      if (!move.chars && seen.insert(move.to).second) open.push_back(move.to);
    }
  }
  return {seen.begin(), seen.end()};
}

// All patterns at once: states are numbered as they are met.
class SideBySide {
 public:
  SideBySide(const Expressions& expressions, std::span<const ExpressionId> parts) : places_(expressions) {
    Together starts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [from, to] = places_.build(parts[i]);
      starts.push_back(from);
      bits_[to] = std::uint64_t{1} << i;
    }
    classes_.emplace(places_);
    state_of(std::move(starts));
  }
  std::size_t size() const { return states_.size(); }

  // The patterns that have matched in a state.
  std::uint64_t matched(std::uint32_t state) const {
    std::uint64_t out = 0;
    for (const std::uint32_t place : *states_[state]) {
      if (const auto bit = bits_.find(place); bit != bits_.end()) out |= bit->second;
    }
    return out;
  }

  // The states that follow, each with the characters that lead there.
  std::map<std::uint32_t, CharSet> following(std::uint32_t state) {
    std::vector<Together> after(classes_->size());
    for (const std::uint32_t place : *states_[state]) {
      for (const Places::Move& move : places_.moves(place)) {
        if (move.chars) classes_->each_in(*move.chars, [&](std::size_t i) { after[i].push_back(move.to), ++steps_; });
      }
    }
    steps_ += after.size();
    if (steps_ > most_steps) Places::refuse_size();
    std::map<Together, CharSet> by_places;
    for (std::size_t i = 0; i < after.size(); ++i) {
      std::ranges::sort(after[i]);
      by_places[std::move(after[i])].add(classes_->range(i).first, classes_->range(i).last);
    }
    std::map<std::uint32_t, CharSet> out;
    for (auto& [together, chars] : by_places) out[state_of(together)].add(chars);
    return out;
  }

 private:
  std::uint32_t state_of(Together together) {
    const auto [at, added] =
        ids_.try_emplace(close(places_, std::move(together)), static_cast<std::uint32_t>(states_.size()));
    if (added) states_.push_back(&at->first);
    if (states_.size() > most_states) Places::refuse_size();
    return at->second;
  }

  Places places_;
  std::optional<Classes> classes_;
  std::map<std::uint32_t, std::uint64_t> bits_;  // of each place where a pattern has matched
  std::map<Together, std::uint32_t> ids_;
  std::vector<const Together*> states_;
  std::size_t steps_ = 0;
};

}  // namespace

TextSet::TextSet(const Expressions& expressions, std::span<const ExpressionId> parts,
                 const std::function<bool(std::uint64_t)>& wanted) {
  SideBySide patterns(expressions, parts);
  for (std::uint32_t state = 0; state < patterns.size(); ++state) {
    accepts_.push_back(wanted(patterns.matched(state)));
    auto& edges = edges_.emplace_back();
    for (auto& [to, chars] : patterns.following(state)) edges.push_back({std::move(chars), to});
  }
  find_live();
}

void TextSet::find_live() {
  std::vector<std::vector<std::uint32_t>> before(edges_.size());
  std::vector<std::uint32_t> open;
  live_ = accepts_;
  for (std::uint32_t state = 0; state < edges_.size(); ++state) {
    for (const Edge& edge : edges_[state]) before[edge.to].push_back(state);
    if (accepts_[state]) open.push_back(state);
  }
  while (!open.empty()) {
    const std::uint32_t state = open.back();
    open.pop_back();
    for (const std::uint32_t earlier : before[state]) {
      if (!live_[earlier]) live_[earlier] = true, open.push_back(earlier);
    }
  }
}

bool TextSet::contains(std::string_view utf8) const {
  std::uint32_t state = 0;
  while (!utf8.empty()) {
    const auto character = base::decode_utf8(utf8);
    utf8.remove_prefix(character.size);
    const auto edge =
        std::ranges::find_if(edges_[state], [&](const Edge& e) { return e.chars.contains(character.code); });
    if (edge == edges_[state].end()) return false;
    state = edge->to;
  }
  return accepts_[state];
}

void TextSet::emit(Automaton& automaton, Speller& speller, Spelling spelling, NodeId from, NodeId to) const {
  std::vector<NodeId> nodes(edges_.size(), no_id);
  for (std::uint32_t state = 0; state < edges_.size(); ++state) {
    if (live_[state]) nodes[state] = automaton.add_node();
  }
  if (!empty()) automaton.add_empty(from, nodes[0]);
  for (std::uint32_t state = 0; state < edges_.size(); ++state) {
    if (!live_[state]) continue;
    if (accepts_[state]) automaton.add_empty(nodes[state], to);
    for (const Edge& edge : edges_[state]) {
      if (live_[edge.to]) speller.spell(spelling, edge.chars, nodes[state], nodes[edge.to]);
    }
  }
}

}  // namespace inlay::text

// A walk through a vocabulary's tree with a running automaton.
#include "text/token_mask_walk.hpp"

#include <algorithm>

#include "text/grammar_error.hpp"
#include "text/grammar_rules.hpp"

namespace inlay::text {
namespace {

constexpr std::uint64_t most_work = 1u << 23;  // threads made for one mask

}  // namespace

MaskWalk::MaskWalk(const GrammarRules& rules, const TokenTree& tree)
    : states_(rules.states), runner_(rules.automaton, rules.states), tree_(tree) {}

void MaskWalk::below(std::uint32_t start, Interval when) {
  if (levels_.empty()) begin();
  const auto& nodes = tree_.nodes;
  const std::uint32_t root_depth = nodes[start].depth;
  for (std::uint32_t node = start + 1; node < nodes[start].end;) {
    levels_.resize(nodes[node].depth - root_depth);
    if (levels_.size() == 1 && !first_bytes_[nodes[node].byte]) {
      node = nodes[node].end;
      continue;
    }
    const Level up = levels_.back();
    runner_.threads.resize(up.end);
    if (runner_.stacks.size() != up.frames) runner_.stacks.shrink(up.frames);
    if (up.begin + 1 == up.end && step_alone(node, up, when)) continue;
    if (!runner_.step(up.begin, up.end, static_cast<std::uint8_t>(nodes[node].byte))) {
      node = nodes[node].end;
      continue;
    }
    levels_.push_back({up.end, runner_.threads.size(), runner_.stacks.size()});
    visit(node, when);
    node = runner_.threads.size() == up.end ? nodes[node].end : node + 1;
  }
  if (runner_.work() > most_work) {
    refuse(Flaw::limit, "the grammar is too ambiguous: finding the next tokens takes too long");
  }
  levels_.resize(1);
  runner_.threads.resize(levels_[0].end);
  runner_.stacks.shrink(levels_[0].frames);
}

void MaskWalk::begin() {
  levels_.push_back({0, runner_.threads.size(), runner_.stacks.size()});
  for (std::size_t byte = 0; byte < first_bytes_.size(); ++byte) {
    first_bytes_[byte] = std::ranges::any_of(runner_.threads, [&](const Thread& thread) {
      return states_.step(thread.state, static_cast<std::uint8_t>(byte)) != dead_state;
    });
  }
}

// The most frequent case: one thread, and no rule begins or ends. True if it was one; then `node` is the next to visit.
bool MaskWalk::step_alone(std::uint32_t& node, const Level& up, Interval within) {
  const auto& nodes = tree_.nodes;
  const Thread& before = runner_.threads[up.begin];
  const StateId state = states_.step(before.state, static_cast<std::uint8_t>(nodes[node].byte));
  if (state == dead_state) {
    node = nodes[node].end;
    return true;
  }
  if (!states_[state].plain()) return false;
  const Interval when{std::max(before.when.least, within.least), std::min(before.when.most, within.most)};
  // A state that keeps to itself whatever lies below takes all of it.
  if (state == before.state && (tree_.below[node] & ~kept_by(state)) == 0) {
    allow(nodes[node].tokens, nodes[nodes[node].end].tokens, when);
    node = nodes[node].end;
    return true;
  }
  allow(nodes[node].tokens, nodes[node + 1].tokens, when);
  runner_.threads.push_back({state, before.frame, before.when});
  levels_.push_back({up.end, up.end + 1, up.frames});
  ++node;
  return true;
}

void MaskWalk::allow(std::uint32_t begin, std::uint32_t end, Interval when) {
  if (begin == end) return;
  auto& list = when.all() ? always_ : sometimes_[{when.least, when.most}];
  list.insert(list.end(), tree_.tokens.begin() + begin, tree_.tokens.begin() + end);
}

void MaskWalk::visit(std::uint32_t node, Interval within) {
  if (loose_ && tree_.nodes[node].end > node + 1) {
    for (const Interval& when : runner_.ends) loose_->push_back({node, when});
  }
  if (tree_.at(node).empty()) return;
  note_intervals(within);
  for (const Interval& when : intervals_) allow(tree_.nodes[node].tokens, tree_.nodes[node + 1].tokens, when);
}

// One interval that is always true makes all others needless.
void MaskWalk::note_intervals(Interval within) {
  intervals_.clear();
  bool always = false;
  const auto note = [&](Interval when) {
    when = {std::max(when.least, within.least), std::min(when.most, within.most)};
    always = always || when.all();
    if (std::ranges::find(intervals_, when) == intervals_.end()) intervals_.push_back(when);
  };
  const Level& level = levels_.back();
  for (std::size_t i = level.begin; i < level.end; ++i) note(runner_.threads[i].when);
  for (const Interval& when : runner_.ends) note(when);
  if (always) intervals_.assign(1, Interval{});
}

void MaskWalk::finish(std::size_t vocabulary, TokenSet& always, std::vector<ConditionalTokens>& sometimes) {
  always = TokenSet(std::move(always_), vocabulary);
  for (auto& [when, tokens] : sometimes_) {
    sometimes.push_back({{when.first, when.second}, std::make_shared<const TokenSet>(std::move(tokens), vocabulary)});
  }
}

namespace {

struct ByteSpan {
  std::uint8_t first, last;
};

// The forms of a character of two bytes or more.
constexpr ByteSpan long_characters[][4] = {{{0xC2, 0xDF}, {0x80, 0xBF}},
                                           {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}},
                                           {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}},
                                           {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}},
                                           {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}},
                                           {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
                                           {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
                                           {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}}};

// The one state that every byte of the span leads to; dead_state where they differ.
StateId common_step(const States& states, StateId from, ByteSpan span) {
  const StateId to = states.step(from, span.first);
  for (int byte = span.first; byte <= span.last; ++byte) {
    if (states.step(from, static_cast<std::uint8_t>(byte)) != to) return dead_state;
  }
  return to;
}

bool takes_long_characters(const States& states, StateId from, StateId to) {
  return std::ranges::all_of(long_characters, [&](const ByteSpan(&form)[4]) {
    StateId at = from;
    for (const ByteSpan& span : form) {
      if (span.first == 0) break;
      at = common_step(states, at, span);
      if (at == dead_state) return false;
    }
    return at == to;
  });
}

bool is_easy_byte(int byte) { return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\'; }

// Whether what follows a counter can begin with an easy character, so that such text has two meanings.
bool confuses(const GrammarRules& rules, StateId after) {
  const State& state = rules.states[after];
  if (!state.plain()) return true;
  for (int byte = 0x20; byte < 256; ++byte) {
    const bool counts = is_easy_byte(byte) || byte >= 0xC2;
    if (counts && rules.states.step(after, static_cast<std::uint8_t>(byte)) != dead_state) return true;
  }
  return false;
}

}  // namespace

// The kinds of character after which the state is the same.
Kinds MaskWalk::kept_by(StateId state) {
  const auto [at, added] = kept_.try_emplace(state, 0);
  if (!added) return at->second;
  Kinds kept = 0, lost = kind::broken;
  for (int byte = 0; byte < 0x80; ++byte) {
    const Kinds own = kind::of_ascii(static_cast<char>(byte));
    (states_.step(state, static_cast<std::uint8_t>(byte)) == state ? kept : lost) |= own;
  }
  (takes_long_characters(states_, state, state) ? kept : lost) |= kind::long_character;
  return at->second = kept & ~lost;
}

EasyText::EasyText(const GrammarRules& rules, StateId state, Resume top) {
  const StateId after = rules.states.step(state, 'a');
  if (after == dead_state) return;
  if (!top.is_counter()) {
    taken_ = after == state && rules.states[state].plain() && leads_to(rules, state, state);
    return;
  }
  const Repeat& repeat = rules.automaton.repeat(top.repeat());
  const State& done = rules.states[after];
  taken_ = state == rules.states.body_of(top.repeat()) && done.ends && !done.reads() && done.starts.empty() &&
           leads_to(rules, state, after) && !confuses(rules, rules.states.at(repeat.to));
  most_ = repeat.most;
}

bool EasyText::leads_to(const GrammarRules& rules, StateId from, StateId to) const {
  for (int byte = 0x20; byte < 0x7F; ++byte) {
    if (is_easy_byte(byte) && rules.states.step(from, static_cast<std::uint8_t>(byte)) != to) return false;
  }
  return takes_long_characters(rules.states, from, to);
}

}  // namespace inlay::text

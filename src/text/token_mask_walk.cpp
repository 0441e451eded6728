// A walk through a vocabulary's tree with a running automaton.
#include "text/token_mask_walk.hpp"

#include <algorithm>

#include "base/memory.hpp"
#include "text/grammar_error.hpp"
#include "text/grammar_rules.hpp"

namespace inlay::text {
namespace {

constexpr std::uint64_t most_work = 1u << 23;  // threads made for one mask

}  // namespace

MaskWalk::MaskWalk(const GrammarRules& rules, const TokenTree& tree)
    : rules_(rules),
      states_(rules.states),
      runner_(rules.automaton, rules.states),
      tree_(tree),
      always_(tree.tokens.get_allocator()),
      sometimes_(tree.tokens.get_allocator()) {}

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
    if (is_read_to_the_end(node, up, when)) {
      allow(nodes[node].tokens, nodes[node + 1].tokens, {});
      ++node;
      continue;
    }
    if (!step_together(node, up)) {
      node = nodes[node].end;
      continue;
    }
    levels_.push_back({up.end, runner_.threads.size(), runner_.stacks.size()});
    visit(node, when);
    const bool done = runner_.threads.size() == up.end || count_easy_below(node, when);
    node = done ? nodes[node].end : node + 1;
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

// Whether a whole token leaves some thread reading, whatever the count is: then no more matters.
bool MaskWalk::is_read_to_the_end(std::uint32_t node, const Level& up, Interval within) const {
  const auto& [end, tokens, depth, byte] = tree_.nodes[node];
  if (end != node + 1 || !within.all()) return false;
  for (std::size_t i = up.begin; i < up.end; ++i) {
    const Thread& thread = runner_.threads[i];
    if (thread.when.all() && states_[states_.step(thread.state, static_cast<std::uint8_t>(byte))].reads()) return true;
  }
  return false;
}

// Every walk takes its first step from the same threads, so that each byte's is taken once; its frames stay.
bool MaskWalk::step_together(std::uint32_t node, const Level& up) {
  const auto byte = static_cast<std::uint8_t>(tree_.nodes[node].byte);
  if (levels_.size() > 1) return runner_.step(up.begin, up.end, byte);
  const auto [at, added] = firsts_.try_emplace(byte);
  FirstStep& first = at->second;
  if (added) {
    runner_.step(up.begin, up.end, byte);
    first = {{runner_.threads.begin() + static_cast<std::ptrdiff_t>(up.end), runner_.threads.end()}, runner_.ends};
    levels_[0].frames = runner_.stacks.size();
  } else {
    runner_.threads.insert(runner_.threads.end(), first.threads.begin(), first.threads.end());
    runner_.ends = first.ends;
  }
  return !first.threads.empty() || !first.ends.empty();
}

// Where a counter counts easy characters and nothing else can read them, what lies below a node needs no steps. True if
// so, and then all of it is allowed as far as the count is.
bool MaskWalk::count_easy_below(std::uint32_t node, Interval within) {
  constexpr Kinds hard = kind::control | kind::last_control | kind::broken;
  const Level& level = levels_.back();
  const auto& nodes = tree_.nodes;
  if (nodes[node].end == node + 1 || (tree_.below[node] & (hard | kind::of_ascii('"') | kind::of_ascii('\\'))) != 0)
    return false;
  const Thread* counting = nullptr;
  for (std::size_t i = level.begin; i < level.end; ++i) {
    if (counter_of(runner_.threads[i])) counting = &runner_.threads[i];
  }
  const EasyText* easy = counting ? counter_of(*counting) : nullptr;
  if (!easy) return false;
  const Frame& frame = runner_.stacks[counting->frame];
  const StateId after = states_.at(rules_.automaton.repeat(frame.resume.repeat()).to);
  for (std::size_t i = level.begin; i < level.end; ++i) {
    if (&runner_.threads[i] != counting && runner_.threads[i].state != after) return false;
  }
  const Interval when{std::max(counting->when.least, within.least), std::min(counting->when.most, within.most)};
  if (easy->most() == unbounded) return allow(nodes[node + 1].tokens, nodes[nodes[node].end].tokens, when), true;
  for (std::uint32_t below = node + 1; below < nodes[node].end; ++below) {
    const std::int64_t rounds = tree_.characters[below] - tree_.characters[node];
    const std::int64_t left = std::int64_t{easy->most()} - Runner::rounds(frame.count) - rounds;
    if (Runner::is_unknown(frame.count)) {
      const Interval enough{when.least, std::min(when.most, left)};
      if (enough.least <= enough.most) allow(nodes[below].tokens, nodes[below + 1].tokens, enough);
    } else if (left >= 0) {
      allow(nodes[below].tokens, nodes[below + 1].tokens, when);
    }
  }
  return true;
}

// What the counter on top of a thread's stack says of easy characters; null where it does not count them.
const EasyText* MaskWalk::counter_of(const Thread& thread) {
  const Resume top = runner_.stacks[thread.frame].resume;
  if (thread.frame == bottom || !top.is_counter()) return nullptr;
  const auto [at, added] = counters_.try_emplace({thread.state, top.what});
  if (added) at->second = std::make_unique<EasyText>(rules_, thread.state, top);
  return at->second->taken() ? at->second.get() : nullptr;
}

// The most frequent case: one thread, and no rule begins or goes on. True if it was one; then `node` is the next to
// visit.
bool MaskWalk::step_alone(std::uint32_t& node, const Level& up, Interval within) {
  const auto& nodes = tree_.nodes;
  const Thread& before = runner_.threads[up.begin];
  const StateId state = states_.step(before.state, static_cast<std::uint8_t>(nodes[node].byte));
  if (state == dead_state) {
    node = nodes[node].end;
    return true;
  }
  const State& after = states_[state];
  const bool leaf = nodes[node].end == node + 1;
  // Of a whole token only matters that there is a way on.
  const bool simple = after.starts.empty() && (!after.ends || before.frame == bottom);
  if (!simple && !(leaf && after.reads())) return false;
  const Interval when{std::max(before.when.least, within.least), std::min(before.when.most, within.most)};
  if (after.ends && loose_ && !leaf) loose_->push_back({node, before.when});
  if (!leaf && !after.ends && keeps_all_below(state, node)) {
    allow(nodes[node].tokens, nodes[nodes[node].end].tokens, when);
    node = nodes[node].end;
    return true;
  }
  allow(nodes[node].tokens, nodes[node + 1].tokens, when);
  if (leaf || !after.reads()) {
    node = nodes[node].end;
    return true;
  }
  runner_.threads.push_back({state, before.frame, before.when});
  levels_.push_back({up.end, up.end + 1, up.frames});
  ++node;
  return true;
}

// Whether the state is the same after all that lies below a node.
bool MaskWalk::keeps_all_below(StateId state, std::uint32_t node) {
  return states_.step(state, static_cast<std::uint8_t>(tree_.nodes[node + 1].byte)) == state &&
         (tree_.below[node] & ~kept_by(state)) == 0;
}

void MaskWalk::allow(std::uint32_t begin, std::uint32_t end, Interval when) {
  if (begin == end) return;
  auto& list = when.all() ? always_ : sometimes_[{when.least, when.most}];
  if (begin + 1 == end) return list.push_back(tree_.tokens[begin]);
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

void MaskWalk::finish(std::size_t vocabulary, TokenSet& always, std::pmr::vector<ConditionalTokens>& sometimes) {
  always = TokenSet(std::move(always_), vocabulary);
  for (auto& [when, tokens] : sometimes_) {
    auto* const memory = tokens.get_allocator().resource();
    sometimes.push_back(
        {{when.first, when.second}, base::make_shared<const TokenSet>(memory, std::move(tokens), vocabulary)});
  }
}

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

}  // namespace inlay::text

// Making states: the nodes within reach without a byte, and the rules that begin there.
#include "text/automaton_states.hpp"

#include <algorithm>

#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

constexpr NodeId end_mark = no_id;
constexpr std::size_t most_bytes = 64u << 20;

[[noreturn]] void refuse_states() { refuse(Flaw::limit, "the grammar needs too many states for this text"); }

}  // namespace

States::States(const Automaton& automaton)
    : automaton_(automaton), marks_(automaton.node_count()), blocks_(most_blocks), after_node_(automaton.node_count()) {
  for (auto& id : after_node_) id.store(unknown_state, std::memory_order_relaxed);
  find_tails();
  place({});  // dead_state
  intern({});
  root_ = at(automaton.rule(automaton.root()).entry);
}

void States::find_tails() {
  tails_.resize(automaton_.node_count());
  std::vector<bool> known(automaton_.node_count());
  std::vector<NodeId> path;
  for (NodeId start = 0; start < automaton_.node_count(); ++start) {
    NodeId node = start;
    bool tail = false;
    while (!known[node]) {
      known[node] = true;
      path.push_back(node);
      std::size_t arcs = 0;
      const Arc* only = nullptr;
      automaton_.each_arc(node, [&](const Arc& arc) { ++arcs, only = &arc; });
      if (arcs == 0) tail = automaton_.is_exit(node);
      if (arcs != 1 || automaton_.is_exit(node) || only->kind != Arc::Kind::empty) break;
      node = only->to;
      tail = tails_[node];
    }
    for (const NodeId on_path : path) tails_[on_path] = tail;
    path.clear();
  }
}

StateId States::at(NodeId node) const {
  const StateId known = after_node_[node].load(std::memory_order_acquire);
  return known != unknown_state ? known : remember(after_node_[node], {node});
}

StateId States::body_of(std::uint32_t repeat) const {
  return at(automaton_.rule(automaton_.repeat(repeat).body).entry);
}

StateId States::compute(StateId from, std::uint8_t index) const {
  const std::uint8_t byte = automaton_.class_sample(index);
  const State& state = (*this)[from];
  std::vector<NodeId> seeds;
  for (const NodeId node : state.nodes) {
    automaton_.each_arc(node, [&](const Arc& arc) {
      if (arc.kind == Arc::Kind::byte && arc.first <= byte && byte <= arc.last) seeds.push_back(arc.to);
    });
  }
  if (!seeds.empty()) return remember(state.next[index], seeds);
  state.next[index].store(dead_state, std::memory_order_release);
  return dead_state;
}

// As compute() for every class of bytes, looking at each arc once.
void States::compute_all(StateId from) const {
  const State& state = (*this)[from];
  std::vector<std::vector<NodeId>> seeds(automaton_.class_count());
  for (const NodeId node : state.nodes) {
    automaton_.each_arc(node, [&](const Arc& arc) {
      if (arc.kind != Arc::Kind::byte) return;
      const std::size_t last = automaton_.byte_class(arc.last);
      for (std::size_t index = automaton_.byte_class(arc.first); index <= last; ++index) seeds[index].push_back(arc.to);
    });
  }
  for (std::size_t index = 0; index < seeds.size(); ++index) {
    auto& next = state.next[index];
    if (index > 0 && seeds[index] == seeds[index - 1])
      next.store(state.next[index - 1].load(std::memory_order_relaxed), std::memory_order_release);
    else if (seeds[index].empty())
      next.store(dead_state, std::memory_order_release);
    else
      remember(next, seeds[index]);
  }
}

void States::prepare() const {
  constexpr StateId most_prepared = 192;
  constexpr std::size_t most_visited = 1u << 14;
  for (StateId id = 1; id < count_ && id < most_prepared && visited_ < most_visited; ++id) {
    if (state(id).reads()) compute_all(id);
    for (const Start& start : state(id).starts) {
      at(start.resume.is_counter() ? automaton_.repeat(start.resume.repeat()).to : start.resume.what);
    }
  }
}

StateId States::remember(std::atomic<StateId>& where, const std::vector<NodeId>& seeds) const {
  const std::lock_guard lock(mutex_);
  if (full_) refuse_states();
  const StateId id = intern(seeds);
  where.store(id, std::memory_order_release);
  return id;
}

// All new states or, where memory or room for them is short, none.
StateId States::intern(const std::vector<NodeId>& seeds) const {
  const StateId first = count_;
  const std::size_t bytes = bytes_;
  try {
    const StateId id = place(seeds);
    while (!unfilled_.empty()) {
      const auto& [kernel, unfilled] = *unfilled_.back();
      unfilled_.pop_back();
      fill(state(unfilled), kernel);
    }
    return id;
  } catch (...) {
    forget(first);
    bytes_ = bytes;
    throw;
  }
}

// The states from `first` on, which nobody has seen yet.
void States::forget(StateId first) const noexcept {
  unfilled_.clear();
  std::erase_if(ids_, [&](const auto& known) { return known.second >= first; });
  while (count_ > first) state(--count_) = State{};
}

// A state for what follows the seeds; a new one waits in unfilled_, so that rules within rules need no recursion.
StateId States::place(const std::vector<NodeId>& seeds) const {
  const auto [at, added] = ids_.try_emplace(close(seeds), count_);
  if (!added) return at->second;
  bytes_ += at->first.size() * 8 + automaton_.class_count() * sizeof(StateId) + sizeof(State) + 64;
  if (count_ == block_size * most_blocks || bytes_ > most_bytes) {
    full_ = true;
    refuse_states();
  }
  if (auto& block = blocks_[count_ / block_size]; !block.load(std::memory_order_relaxed)) {
    owned_.push_back(std::make_unique<State[]>(block_size));
    block.store(owned_.back().get(), std::memory_order_release);
  }
  ++count_;
  unfilled_.push_back(&*at);
  return at->second;
}

States::Kernel States::close(std::vector<NodeId> seeds) const {
  ++mark_;
  Kernel kernel;
  bool ends = false;
  while (!seeds.empty()) {
    const NodeId node = seeds.back();
    seeds.pop_back();
    if (std::exchange(marks_[node], mark_) == mark_) continue;
    ++visited_;
    ends = ends || automaton_.is_exit(node);
    bool matters = false;
    automaton_.each_arc(node, [&](const Arc& arc) {
      matters = matters || arc.kind != Arc::Kind::empty;
      bool skips = arc.kind == Arc::Kind::empty;
      if (arc.kind == Arc::Kind::repeat) skips = automaton_.repeat(arc.what).least == 0;
      if (arc.kind == Arc::Kind::call) {
        skips = automaton_.nullable(arc.what);
        // Nothing follows: the called rule may use this rule's place on the stack.
        if (tails_[arc.to]) seeds.push_back(automaton_.rule(arc.what).entry);
      }
      if (skips) seeds.push_back(arc.to);
    });
    if (matters) kernel.push_back(node);
  }
  std::ranges::sort(kernel);
  if (ends) kernel.push_back(end_mark);
  return kernel;
}

void States::fill(State& state, const Kernel& kernel) const {
  std::map<Resume, std::vector<NodeId>> begun;
  for (const NodeId node : kernel) {
    if (node == end_mark) {
      state.ends = true;
      continue;
    }
    bool reads = false;
    automaton_.each_arc(node, [&](const Arc& arc) {
      reads = reads || arc.kind == Arc::Kind::byte;
      if (arc.kind == Arc::Kind::call && !tails_[arc.to]) {
        begun[Resume::at(arc.to)].push_back(automaton_.rule(arc.what).entry);
      }
      if (arc.kind == Arc::Kind::repeat) {
        begun[Resume::counter(arc.what)].push_back(automaton_.rule(automaton_.repeat(arc.what).body).entry);
      }
    });
    if (reads) state.nodes.push_back(node);
  }
  state.next = std::make_unique<std::atomic<StateId>[]>(automaton_.class_count());
  for (std::size_t i = 0; i < automaton_.class_count(); ++i) {
    state.next[i].store(state.nodes.empty() ? dead_state : unknown_state, std::memory_order_relaxed);
  }
  for (const auto& [resume, entries] : begun) state.starts.push_back({resume, place(entries)});
}

}  // namespace inlay::text

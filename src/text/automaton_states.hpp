// The states of a running automaton: sets of nodes that share a stack, made when first reached and kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "text/automaton.hpp"

namespace inlay::text {

using StateId = std::uint32_t;
inline constexpr StateId dead_state = 0;

// What a stack frame comes back to: a node, or a counter.
struct Resume {
  std::uint32_t what = 0;
  static Resume at(NodeId node) { return {node}; }
  static Resume counter(std::uint32_t repeat) { return {repeat | counter_bit}; }
  bool is_counter() const { return (what & counter_bit) != 0; }
  std::uint32_t repeat() const { return what & ~counter_bit; }
  friend auto operator<=>(const Resume&, const Resume&) = default;

 private:
  static constexpr std::uint32_t counter_bit = 0x80000000;
};

// A rule that begins here, with the frame to push for it.
struct Start {
  Resume resume;
  StateId state = dead_state;
};

struct State {
  std::vector<NodeId> nodes;  // with arcs that read a byte
  std::vector<Start> starts;
  bool ends = false;  // the rule may end here
  bool reads() const { return !nodes.empty(); }
  bool plain() const { return starts.empty() && !ends; }  // nothing to do but read on

  std::unique_ptr<std::atomic<StateId>[]> next;  // by byte class; unknown_state until computed
};

// Safe to use from any number of threads; a step that was taken before takes no lock.
class States {
 public:
  explicit States(const Automaton& automaton);  // finished, and outlives this

  // Makes the first states there will be, as far as that is little work, so that a text need not wait for them.
  void prepare() const;

  StateId entry_of_root() const { return root_; }
  const State& operator[](StateId id) const {
    return blocks_[id / block_size].load(std::memory_order_acquire)[id % block_size];
  }

  // The state after one byte; dead_state where it cannot follow. Throws Error{limit} where there are too many states.
  StateId step(StateId from, std::uint8_t byte) const {
    const std::uint8_t index = automaton_.byte_class(byte);
    const StateId known = (*this)[from].next[index].load(std::memory_order_acquire);
    return known != unknown_state ? known : compute(from, index);
  }

  StateId at(NodeId node) const;                // everything that follows `node` without a byte
  StateId body_of(std::uint32_t repeat) const;  // a counter's body, from its beginning

 private:
  static constexpr StateId unknown_state = no_id;
  static constexpr std::size_t block_size = 256, most_blocks = 256;
  using Kernel = std::vector<NodeId>;  // sorted: the nodes that matter, and end_mark where the rule may end

  StateId compute(StateId from, std::uint8_t index) const;
  void compute_all(StateId from) const;
  StateId remember(std::atomic<StateId>& where, const std::vector<NodeId>& seeds) const;
  StateId intern(const std::vector<NodeId>& seeds) const;
  StateId place(const std::vector<NodeId>& seeds) const;
  void forget(StateId first) const noexcept;
  Kernel close(std::vector<NodeId> seeds) const;
  void fill(State& state, const Kernel& kernel) const;
  void find_tails();
  State& state(StateId id) const { return blocks_[id / block_size].load(std::memory_order_relaxed)[id % block_size]; }

  const Automaton& automaton_;
  StateId root_ = dead_state;
  std::vector<bool> tails_;   // nodes after which the rule can only end
  mutable std::mutex mutex_;  // guards what follows, but for reading published states
  mutable std::map<Kernel, StateId> ids_;
  mutable std::vector<const std::pair<const Kernel, StateId>*> unfilled_;
  mutable std::vector<std::uint32_t> marks_;
  mutable std::uint32_t mark_ = 0;
  mutable StateId count_ = 0;
  mutable std::size_t visited_ = 0;  // nodes, by all searches for what follows
  mutable std::size_t bytes_ = 0;
  mutable bool full_ = false;
  mutable std::vector<std::atomic<State*>> blocks_;
  mutable std::vector<std::unique_ptr<State[]>> owned_;
  mutable std::vector<std::atomic<StateId>> after_node_;
};

}  // namespace inlay::text

// One step of a running automaton: all its threads, each a state and a stack, read one byte.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "text/automaton_states.hpp"

namespace inlay::text {

using FrameId = std::uint32_t;
inline constexpr FrameId bottom = 0;

// Where a rule's end leads back to. A counter's frame also says how many rounds are done.
struct Frame {
  FrameId parent = bottom;
  Resume resume;
  std::uint32_t count = 0;
  std::uint32_t chain = no_id;  // the next frame in the same bucket
};

// Stacks that share their lower parts: equal stacks have equal ids.
class Stacks {
 public:
  Stacks() : frames_(1), buckets_(initial_buckets, no_id) {}
  FrameId push(FrameId parent, Resume resume, std::uint32_t count);
  void shrink(std::size_t size);  // forgets the newest frames
  std::size_t size() const { return frames_.size(); }
  const Frame& operator[](FrameId id) const { return frames_[id]; }

  // The size from which on it pays to look for frames that nothing needs any more.
  std::size_t tidy_size() const { return tidy_size_; }
  void tidied() { tidy_size_ = initial_buckets + 2 * size(); }

 private:
  static constexpr std::size_t initial_buckets = 64;
  std::uint32_t& bucket(FrameId parent, Resume resume, std::uint32_t count);
  std::vector<Frame> frames_;  // [0] is the bottom, where the whole sentence ends
  std::vector<std::uint32_t> buckets_;
  std::size_t tidy_size_ = initial_buckets;
};

// The values of an unknown count for which something holds.
struct Interval {
  std::int64_t least = 0, most = most_repeats;
  bool all() const { return least <= 0 && most >= most_repeats; }
  bool contains(std::int64_t count) const { return least <= count && count <= most; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct Thread {
  StateId state = dead_state;
  FrameId frame = bottom;
  Interval when;  // of the one counter whose count may be unknown
  friend bool operator==(const Thread&, const Thread&) = default;
};

class Runner {
 public:
  Runner(const Automaton& automaton, const States& states) : automaton_(automaton), states_(states) {}

  Stacks stacks;
  std::vector<Thread> threads;
  std::vector<Interval> ends;  // the bottom was reached by the latest step, for these counts

  // A count that stands for an unknown number plus `rounds`.
  static std::uint32_t unknown_plus(std::uint32_t rounds) { return rounds | unknown_bit; }
  static bool is_unknown(std::uint32_t count) { return (count & unknown_bit) != 0; }
  static std::uint32_t rounds(std::uint32_t count) { return count & ~unknown_bit; }

  // Adds a thread and all that it leads to without a byte. `fresh`: the rule has just begun, so that its end is no
  // news.
  void add(const Thread& thread, bool fresh);

  // Goes on after the rule above `frame` has ended.
  void resume(FrameId frame, Interval when);

  // Reads a byte with threads [begin, end) and appends what they become. False: none of them can, nor end.
  bool step(std::size_t begin, std::size_t end, std::uint8_t byte);

  std::uint64_t work() const { return work_; }  // threads made so far

 private:
  static constexpr std::uint32_t unknown_bit = 0x80000000;
  struct Move {
    Thread thread;
    bool fresh = false;
    bool reads = false;  // not a move, but the thread that it led to
    friend bool operator==(const Move&, const Move&) = default;
  };
  struct MoveHash {
    std::size_t operator()(const Move& move) const;
  };
  void settle();
  bool is_new(const Move& move);
  void pop(const Thread& thread);
  void count_round(const Frame& frame, Interval when);

  const Automaton& automaton_;
  const States& states_;
  std::vector<Move> moves_;
  std::vector<Move> done_;                         // in this step
  std::unordered_set<Move, MoveHash> done_index_;  // the same, once they are many
  std::uint64_t work_ = 0;
};

}  // namespace inlay::text

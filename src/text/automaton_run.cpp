// One step of a running automaton: rules begin by pushing a frame, and end by popping it.
#include "text/automaton_run.hpp"

#include <algorithm>

#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_threads = 4096, most_frames = 1u << 16;
constexpr std::size_t few = 16;  // moves that are compared one by one

}  // namespace

std::uint32_t& Stacks::bucket(FrameId parent, Resume resume, std::uint32_t count) {
  std::uint64_t hash = parent * 0x9E3779B97F4A7C15u ^ resume.what * 0xC2B2AE3D27D4EB4Fu ^ count * 0x165667B19E3779F9u;
  hash ^= hash >> 29;
  return buckets_[hash & (buckets_.size() - 1)];
}

FrameId Stacks::push(FrameId parent, Resume resume, std::uint32_t count) {
  std::uint32_t& head = bucket(parent, resume, count);
  for (std::uint32_t at = head; at != no_id; at = frames_[at].chain) {
    const Frame& frame = frames_[at];
    if (frame.parent == parent && frame.resume == resume && frame.count == count) return at;
  }
  if (frames_.size() == most_frames) refuse(Flaw::limit, "the text nests too deeply for its grammar");
  frames_.push_back({parent, resume, count, head});
  return head = static_cast<FrameId>(frames_.size() - 1);
}

void Stacks::shrink(std::size_t size) {
  while (frames_.size() > size) {
    const Frame& frame = frames_.back();
    bucket(frame.parent, frame.resume, frame.count) = frame.chain;
    frames_.pop_back();
  }
}

void Runner::add(const Thread& thread, bool fresh) {
  moves_.push_back({thread, fresh});
  settle();
}

void Runner::resume(FrameId frame, Interval when) {
  pop({dead_state, frame, when});
  settle();
}

bool Runner::step(std::size_t begin, std::size_t end, std::uint8_t byte) {
  ends.clear();
  const std::size_t level = threads.size();
  if (begin + 1 == end) {  // by far the most frequent case, and nothing to compare with
    Thread thread = threads[begin];
    thread.state = states_.step(thread.state, byte);
    if (thread.state == dead_state) return false;
    ++work_;
    if (states_[thread.state].plain()) {
      threads.push_back(thread);
      return true;
    }
    add(thread, false);
    return true;
  }
  for (std::size_t i = begin; i < end; ++i) {
    Thread thread = threads[i];
    thread.state = states_.step(thread.state, byte);
    if (thread.state != dead_state) moves_.push_back({thread, false});
  }
  if (moves_.size() == 1 && states_[moves_[0].thread.state].plain()) {
    threads.push_back(moves_[0].thread);
    moves_.clear();
    return true;
  }
  settle();
  return threads.size() > level || !ends.empty();
}

// Follows every waiting move to the threads that read a byte. The same move is never followed twice.
void Runner::settle() {
  done_.clear();
  done_index_.clear();
  while (!moves_.empty()) {
    const Move move = moves_.back();
    const Thread& thread = move.thread;
    moves_.pop_back();
    ++work_;
    if (!is_new(move)) continue;
    const State& state = states_[thread.state];
    // A rule that has just begun and one that goes on are the same thread once both read.
    if (state.reads() && is_new({thread, true, true})) threads.push_back(thread);
    for (const Start& start : state.starts) {
      moves_.push_back({{start.state, stacks.push(thread.frame, start.resume, 0), thread.when}, true});
    }
    if (state.ends && !move.fresh) pop(thread);
  }
}

bool Runner::is_new(const Move& move) {
  if (done_.size() < few) {
    if (std::ranges::find(done_, move) != done_.end()) return false;
  } else {
    if (done_index_.empty()) done_index_.insert(done_.begin(), done_.end());
    if (!done_index_.insert(move).second) return false;
  }
  done_.push_back(move);
  if (done_.size() > most_threads) refuse(Flaw::limit, "the grammar is too ambiguous for this text");
  return true;
}

std::size_t Runner::MoveHash::operator()(const Move& move) const {
  const std::uint64_t place = std::uint64_t{move.thread.state} << 32 | move.thread.frame;
  const auto range = static_cast<std::uint64_t>(move.thread.when.least * 31 + move.thread.when.most);
  const std::uint64_t mixed = (place ^ range * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u + move.fresh + 2 * move.reads;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

void Runner::pop(const Thread& thread) {
  if (thread.frame == bottom) {
    if (std::ranges::find(ends, thread.when) == ends.end()) ends.push_back(thread.when);
    return;
  }
  const Frame frame = stacks[thread.frame];
  if (frame.resume.is_counter()) return count_round(frame, thread.when);
  moves_.push_back({{states_.at(frame.resume.what), frame.parent, thread.when}, false});
}

void Runner::count_round(const Frame& frame, Interval when) {
  const std::uint32_t id = frame.resume.repeat();
  const Repeat& repeat = automaton_.repeat(id);
  const bool unknown = is_unknown(frame.count);
  std::uint32_t rounds = Runner::rounds(frame.count) + 1;
  // Beyond the least number all counts of an endless repetition are alike.
  if (repeat.most == unbounded) rounds = std::min(rounds, repeat.least);
  const auto narrowed = [&](std::int64_t least, std::int64_t most) {
    return unknown ? Interval{std::max(when.least, least), std::min(when.most, most)} : when;
  };
  const std::int64_t done = rounds, least = repeat.least, most = repeat.most == unbounded ? most_repeats : repeat.most;
  const Interval again = narrowed(0, repeat.most == unbounded ? most_repeats : most - 1 - done);
  const Interval enough = narrowed(least - done, most_repeats);
  if (again.least <= again.most && (unknown || repeat.most == unbounded || done < most)) {
    const std::uint32_t count = unknown ? unknown_plus(rounds) : rounds;
    moves_.push_back({{states_.body_of(id), stacks.push(frame.parent, frame.resume, count), again}, true});
  }
  if (enough.least <= enough.most && (unknown || done >= least)) {
    moves_.push_back({{states_.at(repeat.to), frame.parent, enough}, false});
  }
}

}  // namespace inlay::text

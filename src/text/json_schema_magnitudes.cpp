// The digits of the numbers between two limits.
//
// A number is read from its first digit on. As long as it has the same digits as a limit it is "tight" to it; once it
// is tight to neither, the remaining digits are free. For multiples the remainder so far is carried along.
#include "text/json_schema_magnitudes.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

// Remainders, of which those are one that no further digits tell apart: all that counts for ten thousand is how many
// zeros a number ends with.
class Remainders {
 public:
  explicit Remainders(const Divisor& divisor) : divisor_(divisor) {}

  std::uint64_t after(std::uint64_t rest, int digit) {
    if (divisor_.value == 1) return 0;
    rest = (rest * 10 + static_cast<unsigned>(digit)) % divisor_.value;
    const auto [at, added] = known_.try_emplace(completions(rest), rest);
    if (known_.size() > most) {
      refuse(Flaw::unsupported, "'multipleOf' takes too many states, at " + divisor_.where, divisor_.where);
    }
    return at->second;
  }

 private:
  static constexpr std::size_t most = 2048;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  // For each number of further digits: those that make a multiple, where there are some. They are known to the rest
  // once they are so many that there always are.
  std::vector<std::uint64_t> completions(std::uint64_t rest) const {
    std::vector<std::uint64_t> out;
    for (std::uint64_t power = 1;; power *= 10) {
      const std::uint64_t missing = (divisor_.value - rest) % divisor_.value;
      out.push_back(missing < power ? missing : none);
      if (power >= divisor_.value) return out;
      rest = rest * 10 % divisor_.value;
    }
  }

  const Divisor& divisor_;
  std::map<std::vector<std::uint64_t>, std::uint64_t> known_;
};

// The magnitudes between two limits.
class MagnitudeWriter {
 public:
  MagnitudeWriter(Automaton& automaton, const NumberFacts& facts, const Divisor& divisor, const NumberLimit& least,
                  const std::optional<NumberLimit>& most, NodeId to)
      : automaton_(automaton),
        whole_only_(facts.whole_only),
        fraction_only_(facts.fraction_only),
        divisor_(divisor),
        remainders_(divisor),
        to_(to),
        low_{least.value.whole_digits(), least.value.fraction_digits(), least.exclusive} {
    if (most) high_ = Limit{most->value.whole_digits(), most->value.fraction_digits(), most->exclusive};
  }

  void write(NodeId from) {
    const std::size_t shortest = low_.whole.size(), longest = high_ ? high_->whole.size() : shortest + 1;
    for (std::size_t size = shortest; size <= longest; ++size) {
      const bool low = size == shortest, high = high_ && size == longest;
      if (low || high) {
        digit(from, {0, size, low, high, 0});
      } else {
        for (int d = 1; d <= 9; ++d) add_digit(from, d, free(size - 1, !high_, remainders_.after(0, d)));
      }
    }
  }

 private:
  struct Limit {
    std::string whole, fraction;
    bool exclusive;
  };
  struct State {
    std::size_t at, size;  // digits read, and in all
    bool low, high;        // tight to which limit
    std::uint64_t rest;    // of the division
    bool whole = true;     // nothing but zeros behind the point
    auto key() const { return std::tuple(at, size, low, high, rest, whole); }
  };

  void add_digit(NodeId from, int digit, NodeId to) {
    const auto byte = static_cast<std::uint8_t>('0' + digit);
    automaton_.add_byte(from, byte, byte, to);
  }

  // The next of the digits before the point.
  void digit(NodeId from, State state) {
    const int lowest = state.low ? low_.whole[state.at] - '0' : state.at == 0 && state.size > 1 ? 1 : 0;
    const int highest = state.high ? high_->whole[state.at] - '0' : 9;
    for (int d = lowest; d <= highest; ++d) {
      State next{state.at + 1, state.size, state.low && d == lowest, state.high && d == highest,
                 remainders_.after(state.rest, d)};
      add_digit(from, d, whole(next));
    }
  }

  NodeId whole(const State& state) {
    if (!state.low && !state.high) return free(state.size - state.at, false, state.rest);
    const auto [at, added] = wholes_.try_emplace(state.key(), no_id);
    if (!added) return at->second;
    const NodeId node = at->second = automaton_.add_node();
    if (state.at < state.size) {
      digit(node, state);
    } else {
      automaton_.add_empty(node, fraction({0, 0, state.low, state.high, state.rest}));
    }
    return node;
  }

  // So many digits more before the point, whichever they are; then, if `endless`, any number of others.
  NodeId free(std::size_t left, bool endless, std::uint64_t rest) {
    if (left == 0 && endless) return loop(rest);
    const auto [at, added] = frees_.try_emplace({left, endless, rest}, no_id);
    if (!added) return at->second;
    const NodeId node = at->second = automaton_.add_node();
    if (left == 0) {
      automaton_.add_empty(node, fraction({0, 0, false, false, rest}));
    } else if (divisor_.value == 1) {
      automaton_.add_byte(node, '0', '9', free(left - 1, endless, 0));
    } else {
      for (int d = 0; d <= 9; ++d) add_digit(node, d, free(left - 1, endless, remainders_.after(rest, d)));
    }
    return node;
  }

  // Any number of further digits. A node is made before its arcs are: they lead to each other.
  NodeId loop(std::uint64_t rest) {
    std::vector<std::uint64_t> open;
    const auto node_of = [&](std::uint64_t r) {
      const auto [at, added] = loops_.try_emplace(r, no_id);
      if (added) at->second = automaton_.add_node(), open.push_back(r);
      return at->second;
    };
    const NodeId node = node_of(rest);
    while (!open.empty()) {
      const std::uint64_t r = open.back();
      open.pop_back();
      for (int d = 0; d <= 9; ++d) add_digit(loops_.at(r), d, node_of(remainders_.after(r, d)));
      automaton_.add_empty(loops_.at(r), fraction({0, 0, false, false, r}));
    }
    return node;
  }

  bool may_end(const State& state) {
    const bool above = !state.low || (state.at >= low_.fraction.size() && !low_.exclusive);
    const bool below = !state.high || state.at < high_->fraction.size() || !high_->exclusive;
    std::uint64_t rest = state.rest;
    for (std::size_t i = state.at; i < static_cast<std::size_t>(divisor_.decimals); ++i)
      rest = remainders_.after(rest, 0);
    return above && below && rest == 0 && !(fraction_only_ && state.whole);
  }

  // What follows the digits before the point and `at` digits after it.
  NodeId fraction(State state) {
    if (!state.low && !state.high && !divisor_.set && !whole_only_) state.at = std::min<std::size_t>(state.at, 1);
    if (!divisor_.set)
      state.at = std::min(state.at, 1 + std::max(low_.fraction.size(), high_ ? high_->fraction.size() : 0));
    const auto [at, added] = fractions_.try_emplace(state.key(), no_id);
    if (!added) return at->second;
    const NodeId node = at->second = automaton_.add_node();
    if (may_end(state)) automaton_.add_empty(node, to_);
    NodeId digits = node;
    if (state.at == 0) {
      digits = automaton_.add_node();
      automaton_.add_byte(node, '.', '.', digits);
    }
    const int decimals = divisor_.set ? std::max(1, divisor_.decimals) : 1;
    if ((whole_only_ || divisor_.set) && state.at >= static_cast<std::size_t>(decimals)) return node;
    const bool only_zero = divisor_.set ? divisor_.decimals == 0 : whole_only_;
    fraction_digit(digits, state, only_zero);
    return node;
  }

  void fraction_digit(NodeId from, const State& state, bool only_zero) {
    const auto limit_digit = [&](const Limit& limit) {
      return state.at < limit.fraction.size() ? limit.fraction[state.at] - '0' : 0;
    };
    const int lowest = state.low ? limit_digit(low_) : 0, highest = state.high ? limit_digit(*high_) : 9;
    for (int d = lowest; d <= (only_zero ? 0 : highest); ++d) {
      State next{state.at + 1, 0, state.low && d == lowest, state.high && d == highest,
                 only_zero ? state.rest : remainders_.after(state.rest, d)};
      next.whole = !fraction_only_ || (state.whole && d == 0);
      add_digit(from, d, fraction(next));
    }
  }

  Automaton& automaton_;
  const bool whole_only_, fraction_only_;
  const Divisor& divisor_;
  Remainders remainders_;
  const NodeId to_;
  const Limit low_;
  std::optional<Limit> high_;
  using Key = std::tuple<std::size_t, std::size_t, bool, bool, std::uint64_t, bool>;
  std::map<Key, NodeId> wholes_, fractions_;
  std::map<std::tuple<std::size_t, bool, std::uint64_t>, NodeId> frees_;
  std::map<std::uint64_t, NodeId> loops_;
};

}  // namespace

void emit_magnitudes(Automaton& automaton, const NumberFacts& facts, const Divisor& divisor, const NumberLimit& least,
                     const std::optional<NumberLimit>& most, NodeId from, NodeId to) {
  MagnitudeWriter(automaton, facts, divisor, least, most, to).write(from);
}

}  // namespace inlay::text

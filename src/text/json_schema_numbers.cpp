// The JSON numbers within limits, as an automaton that reads their digits.
//
// A number is read from its first digit on. As long as it has the same digits as a limit it is "tight" to it; once it
// is tight to neither, the remaining digits are free. For multiples the remainder so far is carried along.
#include "text/json_schema_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

constexpr std::uint64_t largest_divisor = 2048;
constexpr std::size_t longest_plain = 64;   // digits of a number written out
constexpr std::size_t longest_limit = 400;  // digits of a limit

// What all multiples together divide: value = divisor * 10^-decimals.
struct Divisor {
  std::uint64_t value = 1;
  int decimals = 0;
  bool set = false;
};

Divisor common_divisor(const NumberFacts& facts) {
  Divisor out;
  if (facts.multiples.empty()) return out;
  const std::string& where = facts.multiples.front().second;
  for (const auto& [multiple, place] : facts.multiples) out.decimals = std::max(out.decimals, multiple.decimals());
  const auto too_large = [&] {
    const std::string what = "'multipleOf' is supported up to a common multiple of 2048 and nine decimals";
    refuse(Flaw::unsupported, what + ", not as at " + where, where);
  };
  if (out.decimals > 9) too_large();
  for (const auto& [multiple, place] : facts.multiples) {
    const auto scaled = multiple.scaled(out.decimals);
    if (!scaled || *scaled > largest_divisor) too_large();
    out.value = std::lcm(out.value, *scaled);
    if (out.value > largest_divisor) too_large();
  }
  if (facts.whole_only) {
    std::uint64_t one = 1;
    for (int i = 0; i < out.decimals; ++i) one *= 10;
    // A whole number is a multiple of v / 10^d exactly if it is one of v / gcd(v, 10^d).
    out.value /= std::gcd(out.value, one);
    out.decimals = 0;
  }
  out.set = true;
  return out;
}

// The magnitudes between two limits.
class MagnitudeWriter {
 public:
  MagnitudeWriter(Automaton& automaton, bool whole_only, Divisor divisor, const NumberLimit& least,
                  const std::optional<NumberLimit>& most, NodeId to)
      : automaton_(automaton),
        whole_only_(whole_only),
        divisor_(divisor),
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
        for (int d = 1; d <= 9; ++d) add_digit(from, d, free(size - 1, !high_, after(0, d)));
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
    auto key() const { return std::tuple(at, size, low, high, rest); }
  };

  std::uint64_t after(std::uint64_t rest, int digit) const {
    return (rest * 10 + static_cast<unsigned>(digit)) % divisor_.value;
  }

  void add_digit(NodeId from, int digit, NodeId to) {
    const auto byte = static_cast<std::uint8_t>('0' + digit);
    automaton_.add_byte(from, byte, byte, to);
  }

  // The next of the digits before the point.
  void digit(NodeId from, State state) {
    const int lowest = state.low ? low_.whole[state.at] - '0' : state.at == 0 && state.size > 1 ? 1 : 0;
    const int highest = state.high ? high_->whole[state.at] - '0' : 9;
    for (int d = lowest; d <= highest; ++d) {
      State next{state.at + 1, state.size, state.low && d == lowest, state.high && d == highest, after(state.rest, d)};
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
      for (int d = 0; d <= 9; ++d) add_digit(node, d, free(left - 1, endless, after(rest, d)));
    }
    return node;
  }

  // Any number of further digits. The nodes of all remainders are made before their arcs: they lead to each other.
  NodeId loop(std::uint64_t rest) {
    if (loops_.empty()) {
      for (std::uint64_t r = 0; r < divisor_.value; ++r) loops_.push_back(automaton_.add_node());
      for (std::uint64_t r = 0; r < divisor_.value; ++r) {
        for (int d = 0; d <= 9; ++d) add_digit(loops_[r], d, loops_[after(r, d)]);
        automaton_.add_empty(loops_[r], fraction({0, 0, false, false, r}));
      }
    }
    return loops_[rest];
  }

  bool may_end(const State& state) const {
    const bool above = !state.low || (state.at >= low_.fraction.size() && !low_.exclusive);
    const bool below = !state.high || state.at < high_->fraction.size() || !high_->exclusive;
    std::uint64_t rest = state.rest;
    for (std::size_t i = state.at; i < static_cast<std::size_t>(divisor_.decimals); ++i) rest = after(rest, 0);
    return above && below && rest == 0;
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
                 only_zero ? state.rest : after(state.rest, d)};
      add_digit(from, d, fraction(next));
    }
  }

  Automaton& automaton_;
  const bool whole_only_;
  const Divisor divisor_;
  const NodeId to_;
  const Limit low_;
  std::optional<Limit> high_;
  using Key = std::tuple<std::size_t, std::size_t, bool, bool, std::uint64_t>;
  std::map<Key, NodeId> wholes_, fractions_;
  std::map<std::tuple<std::size_t, bool, std::uint64_t>, NodeId> frees_;
  std::vector<NodeId> loops_;
};

void add_digits(Automaton& automaton, NodeId from, NodeId to) {  // one or more
  const NodeId more = automaton.add_node();
  automaton.add_byte(from, '0', '9', more);
  automaton.add_byte(more, '0', '9', more);
  automaton.add_empty(more, to);
}

// Any JSON number, or any whole one.
void emit_any(Automaton& automaton, bool whole_only, NodeId from, NodeId to) {
  const NodeId first = automaton.add_node(), more = automaton.add_node(), whole = automaton.add_node();
  const NodeId point = automaton.add_node(), power = automaton.add_node(), sign = automaton.add_node();
  automaton.add_byte(from, '-', '-', first);
  automaton.add_empty(from, first);
  automaton.add_byte(first, '0', '0', whole);
  automaton.add_byte(first, '1', '9', more);
  automaton.add_byte(more, '0', '9', more);
  automaton.add_empty(more, whole);
  automaton.add_empty(whole, to);
  automaton.add_byte(whole, '.', '.', point);
  if (whole_only) return automaton.add_byte(point, '0', '0', to);
  const NodeId fraction = automaton.add_node();
  add_digits(automaton, point, fraction);
  automaton.add_empty(fraction, to);
  for (const NodeId before : {whole, fraction}) {
    for (const std::uint8_t letter : {'e', 'E'}) automaton.add_byte(before, letter, letter, power);
  }
  for (const std::uint8_t letter : {'+', '-'}) automaton.add_byte(power, letter, letter, sign);
  automaton.add_empty(power, sign);
  add_digits(automaton, sign, to);
}

bool divides(const Decimal& multiple, const Decimal& value) {
  const int decimals = std::max(multiple.decimals(), value.decimals());
  const auto a = multiple.scaled(decimals), b = value.scaled(decimals);
  if (!a || !b) return value.zero();
  return *b % *a == 0;
}

void emit_exactly(Automaton& automaton, const NumberFacts& facts, NodeId from, NodeId to) {
  const Decimal& value = *facts.exactly;
  const auto below = [](const Decimal& a, const Decimal& b, bool exclusive) { return exclusive ? a < b : a <= b; };
  if (facts.whole_only && !value.whole()) return;
  if (facts.least && !below(facts.least->value, value, facts.least->exclusive)) return;
  if (facts.most && !below(value, facts.most->value, facts.most->exclusive)) return;
  for (const auto& [multiple, where] : facts.multiples) {
    if (!divides(multiple, value)) return;
  }
  if (value.plain_size() > longest_plain) {
    refuse(Flaw::bad_value, "a number of the schema has too many digits to be written out", facts.where);
  }
  automaton.add_text(from, value.plain(), to);
  if (value.whole()) automaton.add_text(from, value.plain() + ".0", to);
}

}  // namespace

void emit_number(Automaton& automaton, const NumberFacts& facts, NodeId from, NodeId to) {
  if (facts.exactly) return emit_exactly(automaton, facts, from, to);
  if (!facts.least && !facts.most && facts.multiples.empty()) return emit_any(automaton, facts.whole_only, from, to);
  auto least = facts.least, most = facts.most;
  for (const auto& limit : {least, most}) {
    if (limit && limit->value.plain_size() > longest_limit) {
      refuse(Flaw::limit, "a limit of a number has too many digits", facts.where);
    }
  }
  if (facts.whole_only && least && !least->value.whole()) least = {least->value.ceiling(), false};
  if (facts.whole_only && most && !most->value.whole()) most = {most->value.floor(), false};
  const Divisor divisor = common_divisor(facts);
  const Decimal zero;
  if (!most || most->value >= zero) {
    const NumberLimit low = least && least->value >= zero ? *least : NumberLimit{};
    MagnitudeWriter(automaton, facts.whole_only, divisor, low, most, to).write(from);
  }
  if (!least || least->value < zero) {
    const NumberLimit low =
        most && most->value < zero ? NumberLimit{most->value.negated(), most->exclusive} : NumberLimit{zero, false};
    std::optional<NumberLimit> high;
    if (least) high = {least->value.negated(), least->exclusive};
    const NodeId magnitude = automaton.add_node();
    automaton.add_byte(from, '-', '-', magnitude);
    MagnitudeWriter(automaton, facts.whole_only, divisor, low, high, to).write(magnitude);
  }
}

}  // namespace inlay::text

// The JSON numbers within limits, as an automaton that reads their digits.
#include "text/json_schema_numbers.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "text/grammar_error.hpp"
#include "text/json_schema_magnitudes.hpp"

namespace inlay::text {
namespace {

constexpr std::uint64_t largest_divisor = 1'000'000'000'000;
constexpr std::size_t longest_plain = 64;   // digits of a number written out
constexpr std::size_t longest_limit = 400;  // digits of a limit

Divisor common_divisor(const NumberFacts& facts) {
  Divisor out;
  if (facts.multiples.empty()) return out;
  const std::string& where = out.where = facts.multiples.front().second;
  for (const auto& [multiple, place] : facts.multiples) out.decimals = std::max(out.decimals, multiple.decimals());
  const auto too_large = [&] {
    const std::string what = "'multipleOf' is supported up to a common multiple of 10^12 and nine decimals";
    refuse(Flaw::unsupported, what + ", not as at " + where, where);
  };
  if (out.decimals > 9) too_large();
  for (const auto& [multiple, place] : facts.multiples) {
    const auto scaled = multiple.scaled(out.decimals);
    if (!scaled || *scaled / std::gcd(*scaled, out.value) > largest_divisor / out.value) too_large();
    out.value = std::lcm(out.value, *scaled);
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
  if ((facts.whole_only && !value.whole()) || (facts.fraction_only && value.whole())) return;
  if (std::ranges::find(facts.others, value) != facts.others.end()) return;
  if (facts.least && !below(facts.least->value, value, facts.least->exclusive)) return;
  if (facts.most && !below(value, facts.most->value, facts.most->exclusive)) return;
  for (const auto& [multiple, where] : facts.multiples) {
    if (!divides(multiple, value)) return;
  }
  if (value.plain_size() > longest_plain) {
    refuse(Flaw::bad_value, "a number of the schema has too many digits to be written out", facts.where);
  }
  for (const char* sign : {"", "-"}) {
    if (*sign && !value.zero()) continue;  // only zero is the same below zero
    automaton.add_text(from, sign + value.plain(), to);
    if (value.whole()) automaton.add_text(from, sign + value.plain() + ".0", to);
  }
}

// The ranges between the numbers that are left out.
void emit_without(Automaton& automaton, NumberFacts facts, NodeId from, NodeId to) {
  constexpr std::size_t most_others = 256;
  auto others = std::exchange(facts.others, {});
  if (others.size() > most_others) refuse(Flaw::limit, "the schema leaves out too many numbers", facts.where);
  std::ranges::sort(others);
  const auto end = facts.most;
  for (const Decimal& other : others) {
    if (facts.least && other < facts.least->value) continue;
    if (end && other > end->value) break;
    facts.most = {other, true};
    emit_number(automaton, facts, from, to);
    facts.least = {other, true};
  }
  facts.most = end;
  emit_number(automaton, facts, from, to);
}

}  // namespace

void emit_number(Automaton& automaton, const NumberFacts& facts, NodeId from, NodeId to) {
  if (facts.exactly) return emit_exactly(automaton, facts, from, to);
  if (!facts.others.empty()) return emit_without(automaton, facts, from, to);
  if (!facts.least && !facts.most && facts.multiples.empty() && !facts.fraction_only)
    return emit_any(automaton, facts.whole_only, from, to);
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
    emit_magnitudes(automaton, facts, divisor, low, most, from, to);
  }
  if (!least || least->value < zero) {
    const bool below = most && most->value <= zero;
    const NumberLimit low = below ? NumberLimit{most->value.negated(), most->exclusive} : NumberLimit{};
    std::optional<NumberLimit> high;
    if (least) high = {least->value.negated(), least->exclusive};
    const NodeId magnitude = automaton.add_node();
    automaton.add_byte(from, '-', '-', magnitude);
    emit_magnitudes(automaton, facts, divisor, low, high, magnitude, to);
  }
}

}  // namespace inlay::text

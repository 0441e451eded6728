// What states mean to the text of a string.
#include "text/token_mask_text.hpp"

#include <algorithm>
#include <utility>

#include "text/grammar_rules.hpp"

namespace inlay::text {
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

EasyText::EasyText(const GrammarRules& rules, StateId state, Resume top) {
  const StateId after = rules.states.step(state, 'a');
  if (after == dead_state) return;
  if (after == state) taken_ = rules.states[state].plain() && leads_to(rules, state, state);
  if (after == state || !top.is_counter()) return;
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

// States are numbered in the order in which they are met; bytes that lead to the same one stand together.
std::string meaning_of(const GrammarRules& rules, StateId start) {
  constexpr std::size_t most_states = 48;
  std::vector<StateId> known{dead_state, start};
  std::string words;
  for (std::size_t i = 1; i < known.size(); ++i) {
    const State& state = rules.states[known[i]];
    if (!state.starts.empty() || known.size() > most_states) return {};
    words += state.ends ? 'e' : 's';
    std::size_t run = no_id;
    for (std::size_t each = 0; each < rules.automaton.class_count(); ++each) {  // a class is a span of bytes
      const std::uint8_t byte = rules.automaton.class_sample(each);
      const StateId to = rules.states.step(known[i], byte);
      const auto at = static_cast<std::size_t>(std::ranges::find(known, to) - known.begin());
      if (at == known.size()) known.push_back(to);
      if (std::exchange(run, at) != at) words.append(1, static_cast<char>(byte)).append(1, static_cast<char>(at));
    }
  }
  return words;
}

}  // namespace inlay::text

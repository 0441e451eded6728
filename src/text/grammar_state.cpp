// How far a text has come in its grammar.
#include "text/grammar_state.hpp"

#include <optional>
#include <utility>

#include "inlay/error.hpp"
#include "text/grammar_rules.hpp"

namespace inlay::text {
namespace {

// The one byte that a runner's threads can read; none where there are several.
std::optional<std::uint8_t> only_byte(const GrammarRules& rules, const std::vector<Thread>& threads) {
  std::optional<std::uint8_t> only;
  for (int byte = 0; byte < 256; ++byte) {
    bool possible = false;
    for (const Thread& thread : threads) {
      possible = possible || rules.states.step(thread.state, static_cast<std::uint8_t>(byte)) != dead_state;
    }
    if (possible && only) return std::nullopt;
    if (possible) only = static_cast<std::uint8_t>(byte);
  }
  return only;
}

// Reads a byte, and forgets the threads that did.
bool advance(Runner& runner, std::uint8_t byte) {
  const std::size_t before = runner.threads.size();
  if (!runner.step(0, before, byte)) return false;
  runner.threads.erase(runner.threads.begin(), runner.threads.begin() + static_cast<std::ptrdiff_t>(before));
  return true;
}

// Keeps only the frames that some thread still needs.
void tidy(Runner& runner) {
  Stacks kept;
  std::vector<FrameId> path;
  std::vector<FrameId> moved(runner.stacks.size(), bottom);
  for (Thread& thread : runner.threads) {
    for (FrameId at = thread.frame; at != bottom && moved[at] == bottom; at = runner.stacks[at].parent)
      path.push_back(at);
    for (; !path.empty(); path.pop_back()) {
      const Frame& frame = runner.stacks[path.back()];
      moved[path.back()] = kept.push(moved[frame.parent], frame.resume, frame.count);
    }
    thread.frame = moved[thread.frame];
  }
  kept.tidied();
  runner.stacks = std::move(kept);
}

}  // namespace

GrammarState::GrammarState(const Grammar& grammar) : rules_(GrammarRules::of(grammar)) {
  if (!rules_)
    throw Error(Errc::argument, "an empty grammar allows any text and has no state", Fault::bad_value, "grammar");
  Runner start(rules_->automaton, rules_->states);
  start.add({rules_->states.entry_of_root(), bottom, {}}, false);
  complete_ = !start.ends.empty();
  stacks_ = std::move(start.stacks);
  threads_ = std::move(start.threads);
}

Runner GrammarState::runner() const {
  Runner out(rules_->automaton, rules_->states);
  out.stacks = stacks_;
  out.threads = threads_;
  return out;
}

bool GrammarState::accept(std::string_view bytes) {
  if (bytes.empty()) return true;
  Runner next = runner();
  for (const char byte : bytes) {
    if (!advance(next, static_cast<std::uint8_t>(byte))) return false;
    if (next.stacks.size() > next.stacks.tidy_size()) tidy(next);
  }
  complete_ = !next.ends.empty();
  stacks_ = std::move(next.stacks);
  threads_ = std::move(next.threads);
  return true;
}

std::string GrammarState::forced(std::size_t most) const {
  std::string text;
  Runner next = runner();
  bool may_end = complete_;
  while (!may_end && text.size() < most) {
    const auto byte = only_byte(*rules_, next.threads);
    if (!byte || !advance(next, *byte)) break;
    text += static_cast<char>(*byte);
    may_end = !next.ends.empty();
  }
  return text;
}

}  // namespace inlay::text

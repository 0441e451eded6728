#include "text/split.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "text/vocabulary.hpp"

namespace inlay::text {
namespace {

constexpr struct {
  std::string_view name, meaning;
} names[] = {
    {"%upper%", R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"},  // may stand before the first small letter of a word
    {"%lower%", R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"},
    // The same without Chinese characters: PCRE2 has no difference of classes, so the complement of a union.
    {"%upper-han%", R"([^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}])"},
    {"%lower-han%", R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}])"},
    {"%contraction%", "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"},
};

Pattern pattern_of(std::string_view expression, std::pmr::memory_resource* memory) {
  std::string text(expression);
  for (const auto& [name, meaning] : names) text = replaced(text, name, meaning);
  return Pattern(text, memory);
}

using Ends = std::pmr::vector<std::uint32_t>;

// One piece being cut: cuts are positions in the piece, and are noted as positions in the whole text.
class Cuts {
 public:
  Cuts(std::string_view piece, std::uint32_t offset, Ends& out) : piece_(piece), offset_(offset), out_(out) {}

  std::string_view piece() const { return piece_; }
  std::pmr::memory_resource* memory() const { return out_.get_allocator().resource(); }
  void cut(std::size_t at) {
    if (at > last_) out_.push_back(offset_ + static_cast<std::uint32_t>(at));
    last_ = std::max(last_, at);
  }
  void finish() { cut(piece_.size()); }

 private:
  std::string_view piece_;
  std::uint32_t offset_;
  Ends& out_;
  std::size_t last_ = 0;
};

std::pmr::vector<std::size_t> character_starts(const Cuts& cuts, Range range) {
  const auto text = cuts.piece().substr(range.begin, range.end - range.begin);
  std::pmr::vector<std::size_t> starts(cuts.memory());
  for (std::size_t at = 0; at < text.size(); at += base::decode_utf8(text.substr(at)).size) starts.push_back(at);
  return starts;
}

// 1234567 becomes 1 234 567. The run's start is a cut where the first group is whole.
void cut_thousands(Cuts& cuts, Range run) {
  const auto starts = character_starts(cuts, run);
  for (std::size_t i = starts.size() % 3; i < starts.size(); i += 3) cuts.cut(run.begin + starts[i]);
}

void cut_powers_of_two(Cuts& cuts, Range spaces) {
  const auto starts = character_starts(cuts, spaces);
  for (std::size_t at = 0; at < starts.size();) {
    cuts.cut(spaces.begin + starts[at]);
    std::size_t run = 512;
    while (run > starts.size() - at) run /= 2;
    at += run;
  }
}

void cut_match(Cuts& cuts, Step::Rule rule, Range match) {
  if (rule == Step::Rule::thousands_cut) return cut_thousands(cuts, match);
  cuts.cut(match.begin);
  if (rule == Step::Rule::thousands) cut_thousands(cuts, match);
  if (rule == Step::Rule::powers_of_two) cut_powers_of_two(cuts, match);
  cuts.cut(match.end);
}

}  // namespace

Splitter::Splitter(const PreTokenizer& rules, std::pmr::memory_resource* memory) : steps_(memory) {
  steps_.reserve(rules.steps.size());
  for (const Step& step : rules.steps) steps_.push_back({step.rule, pattern_of(step.expression, memory)});
}

std::pmr::vector<std::uint32_t> Splitter::split(std::string_view text) const {
  auto* const memory = steps_.get_allocator().resource();
  Ends ends(memory), next(memory);
  if (!text.empty()) ends.push_back(static_cast<std::uint32_t>(text.size()));
  Pattern::Scratch scratch(memory);
  for (const auto& [rule, pattern] : steps_) {
    next.clear();
    std::uint32_t begin = 0;
    for (const std::uint32_t end : ends) {
      Cuts cuts(text.substr(begin, end - begin), begin, next);
      std::size_t at = 0;
      while (const auto match = pattern.find(cuts.piece(), at, scratch)) {
        cut_match(cuts, rule, *match);
        at = match->end;
      }
      cuts.finish();
      begin = end;
    }
    std::swap(ends, next);
  }
  return ends;
}

}  // namespace inlay::text

// The infill step: joins tokens of which one begins the other, and keeps what is clearly meant.
#include "runtime/sampling_infill.hpp"

#include "runtime/elementary.hpp"
#include "runtime/sampling_steps.hpp"

namespace inlay::runtime {

namespace {

struct Way {
  TokenId id;
  double p;
  bool ends;
  std::string text;
};

std::pmr::vector<Way> ways(const Candidates& candidates, const text::Tokenizer& tokenizer) {
  const auto p = probabilities(candidates);
  std::pmr::vector<Way> ways(candidates.memory());
  candidates.each([&](TokenId id, float) {
    ways.push_back({id, p[ways.size()], tokenizer.ends_generation(id), {}});
    tokenizer.append_piece(id, false, ways.back().text);
  });
  return ways;
}

// Of two of which one begins the other, the likelier takes over.
void join(std::pmr::vector<Way>& ways) {
  for (auto& a : ways)
    for (auto& b : ways) {
      if (a.p == 0) break;
      if (&a == &b || b.p == 0 || a.text.empty() || !b.text.starts_with(a.text)) continue;
      auto& winner = a.p > b.p ? a : b;
      auto& loser = a.p > b.p ? b : a;
      winner.p += loser.p, loser.p = 0;
    }
}

void normalise(std::pmr::vector<Way>& ways) {
  double sum = 0;
  for (const auto& way : ways) sum += way.p;
  for (auto& way : ways) way.p /= sum;
}

std::size_t going_on(const std::pmr::vector<Way>& ways) {
  return std::size_t(std::count_if(ways.begin(), ways.end(), [](const Way& way) { return !way.ends; }));
}

void drop_below(std::pmr::vector<Way>& ways, double p) {
  std::erase_if(ways, [&](const Way& way) { return !way.ends && way.p < p; });
}

}  // namespace

void cut_infill(Candidates& candidates, const text::Tokenizer& tokenizer) {
  auto& list = candidates.list();
  auto all = ways(candidates, tokenizer);
  double ending = 0, text = 0;
  for (const auto& way : all) (way.ends ? ending : text) += way.p;
  if (3 * ending * double(all.size()) > text) {
    std::erase_if(list, [&](const auto& c) { return !tokenizer.ends_generation(c.id); });
    return;
  }
  join(all);
  constexpr double clear = 0.2;
  drop_below(all, clear);
  if (going_on(all) == 0) {
    list = {{tokenizer.eot() >= 0 ? tokenizer.eot() : std::max(tokenizer.eos(), 0), 0}};
    return;
  }
  normalise(all);
  drop_below(all, 1 / double(going_on(all) + 1));
  list.clear();
  for (const auto& way : all) list.push_back({way.id, float(logarithm(way.p))});
  std::sort(list.begin(), list.end(), before);
}

}  // namespace inlay::runtime

// Counting what has been said, and how long a repetition would become.
#include "runtime/sampling_repetition.hpp"

#include <map>

#include "runtime/elementary.hpp"

namespace inlay::runtime {

namespace {

std::span<const TokenId> newest(std::span<const TokenId> so_far, int window) {
  return window < 0 ? so_far : so_far.last(std::min(so_far.size(), std::size_t(window)));
}

struct Count {
  TokenId id;
  int n;
};

std::pmr::vector<Count> counts(std::span<const TokenId> window, std::pmr::memory_resource* memory) {
  std::pmr::vector<TokenId> sorted(window.begin(), window.end(), memory);
  std::sort(sorted.begin(), sorted.end());
  std::pmr::vector<Count> counts(memory);
  for (const auto id : sorted)
    if (!counts.empty() && counts.back().id == id)
      ++counts.back().n;
    else
      counts.push_back({id, 1});
  return counts;
}

// z[k]: how long the sequence from k on equals the sequence from 0 on (Gusfield 1997).
std::pmr::vector<std::size_t> common_prefixes(std::span<const TokenId> s, std::pmr::memory_resource* memory) {
  std::pmr::vector<std::size_t> z(s.size(), 0, memory);
  for (std::size_t k = 1, left = 0, right = 0; k < s.size(); ++k) {
    if (k < right) z[k] = std::min(right - k, z[k - left]);
    while (k + z[k] < s.size() && s[z[k]] == s[k + z[k]]) ++z[k];
    if (k + z[k] > right) left = k, right = k + z[k];
  }
  return z;
}

}  // namespace

void penalise_tokens(Candidates& candidates, const Sampler& recipe, std::span<const TokenId> so_far) {
  const auto said = counts(newest(so_far, recipe.repeat_window), candidates.memory());
  const float divisor = recipe.repeat_penalty;
  candidates.edit(std::span<const Count>(said), [&](float logit, const Count& count) {
    const float scaled = logit > 0 ? logit / divisor : logit * divisor;
    return scaled - float(count.n) * recipe.frequency_penalty - recipe.presence_penalty;
  });
}

void Breakers::find(std::span<const std::string> texts, const text::Tokenizer& tokenizer) {
  constexpr std::size_t most_bytes = 40;
  for (const auto& text : texts)
    if (!text.empty()) add(std::string_view(text).substr(0, most_bytes), tokenizer);
}

void Breakers::add(std::string_view breaker, const text::Tokenizer& tokenizer) {
  constexpr std::size_t most_tail = 20;
  std::string piece;
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    piece.clear();
    tokenizer.append_piece(id, true, piece);
    if (piece.find(breaker) != std::string::npos) {
      tails_[id].push_back({});
      continue;
    }
    for (std::size_t n = 1; n < breaker.size() && n <= piece.size(); ++n)
      if (piece.ends_with(breaker.substr(0, n))) {
        auto tail = tokenizer.encode(breaker.substr(n), {});
        tail.resize(std::min(tail.size(), most_tail));
        tails_[id].emplace_back(tail.begin(), tail.end());
      }
  }
}

bool Breakers::alone(TokenId id) const {
  const auto found = tails_.find(id);
  return found != tails_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](const auto& tail) { return tail.empty(); });
}

std::size_t Breakers::reach(std::span<const TokenId> newest_first) const {
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    const auto found = tails_.find(newest_first[i]);
    if (found == tails_.end()) continue;
    const auto newer = newest_first.first(i);
    std::ptrdiff_t longest = -1;
    for (const auto& tail : found->second)
      if (tail.size() <= i && std::equal(tail.begin(), tail.end(), newer.rbegin()))
        longest = std::max(longest, std::ptrdiff_t(tail.size()));
    if (longest >= 0) return i - std::size_t(longest);
  }
  return newest_first.size();
}

void penalise_sequences(Candidates& candidates, const Sampler& recipe, const Breakers& breakers,
                        std::span<const TokenId> so_far) {
  const auto window = newest(so_far, recipe.dry_window);
  const auto allowed = std::size_t(recipe.dry_allowed);
  if (window.size() <= allowed) return;
  const auto memory = candidates.memory();
  const std::pmr::vector<TokenId> newest_first(window.rbegin(), window.rend(), memory);
  const auto reach = breakers.reach(newest_first);
  if (reach < allowed) return;
  const auto repeated = common_prefixes(newest_first, memory);
  std::pmr::map<TokenId, std::size_t> longest(memory);  // the repetition that a token would make longer
  for (std::size_t k = 1; k < newest_first.size(); ++k) {
    const auto length = std::min(repeated[k], reach);
    const auto next = newest_first[k - 1];
    if (length >= allowed && !breakers.alone(next)) longest[next] = std::max(longest[next], length);
  }
  struct Length {
    TokenId id;
    std::size_t length;
  };
  std::pmr::vector<Length> lengths(memory);
  for (const auto& [id, length] : longest) lengths.push_back({id, length});
  constexpr double largest_exponent = 88.7228;  // e^88.7228 is the largest f32
  const double base = recipe.dry_base;
  const double most = base > 1.000001 ? std::floor(largest_exponent / logarithm(base)) : double(window.size());
  candidates.edit(std::span<const Length>(lengths), [&](float logit, const Length& said) {
    return float(logit - recipe.dry_multiplier * power(base, std::min(double(said.length - allowed), most)));
  });
}

}  // namespace inlay::runtime

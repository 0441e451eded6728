// Steps that make what has been said less likely: penalties on tokens, and on sequences (DRY).
#pragma once

#include <memory_resource>
#include <unordered_map>

#include "runtime/sampling_candidates.hpp"
#include "text/tokenizer.hpp"

namespace inlay::runtime {

void penalise_tokens(Candidates&, const Sampler& recipe, std::span<const TokenId> so_far);

// Texts across which no repetition is looked for, as tokens: which token a breaker begins in, and those it goes on
// with.
class Breakers {
 public:
  explicit Breakers(std::pmr::memory_resource* memory = std::pmr::new_delete_resource()) : tails_(memory) {}
  void find(std::span<const std::string> texts, const text::Tokenizer& tokenizer);

  // How many of the newest tokens stand behind the last breaker. `newest_first` is the history, reversed.
  std::size_t reach(std::span<const TokenId> newest_first) const;
  bool alone(TokenId id) const;  // this token by itself is a breaker

 private:
  void add(std::string_view text, const text::Tokenizer& tokenizer);
  std::pmr::unordered_map<TokenId, std::pmr::vector<std::pmr::vector<TokenId>>> tails_;
};

void penalise_sequences(Candidates&, const Sampler& recipe, const Breakers&, std::span<const TokenId> so_far);

}  // namespace inlay::runtime

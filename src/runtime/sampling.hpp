// The pipeline of a Sampler: from logits to one token, the same on every platform for the same logits and seed.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "runtime/random.hpp"
#include "runtime/sampling_candidates.hpp"
#include "runtime/sampling_draw.hpp"
#include "runtime/sampling_recipe.hpp"
#include "runtime/sampling_repetition.hpp"

namespace inlay::runtime {

class Sampling {
 public:
  // Throws Error{argument} for a recipe that check() refuses. The tokenizer, which must outlive this, is asked by steps
  // that look at texts: dry's breakers and infill.
  Sampling(const Sampler& recipe, std::uint64_t seed, const text::Tokenizer* tokenizer = nullptr,
           const RowPasses& passes = plain_passes, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  // Sees what each step left, under its name.
  using Watch = std::function<void(std::string_view step, Candidates&)>;

  // Throws Error{device} where logits are NaN or +infinity, Error{argument} where all are -infinity. `known`: theirs,
  // where somebody has found them.
  TokenId choose(std::span<const float> logits, std::span<const TokenId> so_far, const Watch& watch = {},
                 const Maxima* known = nullptr);

 private:
  void run(SamplerStep step, std::span<const TokenId> so_far);
  TokenId draw(const Watch& watch);
  bool is_greedy() const;

  Sampler recipe_;
  std::pmr::vector<SamplerStep> steps_;
  const text::Tokenizer* tokenizer_;
  Random random_;
  Breakers breakers_;
  std::optional<Mirostat> mirostat_;
  std::optional<Adaptive> adaptive_;
  bool greedy_;
  Candidates candidates_;
};

}  // namespace inlay::runtime

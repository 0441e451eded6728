// The steps of a Sampler, one after the other, and the draw at the end.
#include "runtime/sampling.hpp"

#include "inlay/error.hpp"
#include "runtime/sampling_infill.hpp"
#include "runtime/sampling_steps.hpp"

namespace inlay::runtime {

namespace {

bool changes_logits(SamplerStep step) {
  return step == SamplerStep::bias || step == SamplerStep::penalties || step == SamplerStep::dry;
}

bool keeps_likeliest(SamplerStep step) {
  return step == SamplerStep::top_n_sigma || step == SamplerStep::top_k || step == SamplerStep::top_p ||
         step == SamplerStep::min_p || step == SamplerStep::temperature;
}

// Biases by id, those of one id added up, as Candidates::edit wants them.
std::vector<TokenBias> sorted(std::vector<TokenBias> biases) {
  std::stable_sort(biases.begin(), biases.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::vector<TokenBias> sums;
  for (const auto& bias : biases)
    if (!sums.empty() && sums.back().id == bias.id)
      sums.back().logit += bias.logit;
    else
      sums.push_back(bias);
  return sums;
}

}  // namespace

Sampling::Sampling(const Sampler& recipe, std::uint64_t seed, const text::Tokenizer* tokenizer, const RowPasses& passes,
                   std::pmr::memory_resource* memory)
    : recipe_(recipe),
      steps_(memory),
      tokenizer_(tokenizer),
      random_(seed),
      breakers_(memory),
      candidates_(passes, memory) {
  check(recipe);
  const auto active = active_steps(recipe);
  steps_.assign(active.begin(), active.end());
  recipe_.bias = sorted(recipe.bias);
  const bool dry = std::find(steps_.begin(), steps_.end(), SamplerStep::dry) != steps_.end();
  if (dry && tokenizer) breakers_.find(recipe.dry_breakers, *tokenizer);
  if (recipe.mirostat != 0) mirostat_.emplace(recipe.mirostat, recipe.mirostat_tau, recipe.mirostat_eta);
  if (recipe.adaptive_target >= 0) adaptive_.emplace(recipe.adaptive_target, recipe.adaptive_decay, memory);
  greedy_ = is_greedy();
}

// Whether the chain ends with the likeliest token whatever its cuts do: none of them drops it, and nothing reorders
// tokens after a cut.
bool Sampling::is_greedy() const {
  bool cut = false, cold = false;
  for (const auto step : steps_) {
    if (changes_logits(step) ? cut : !keeps_likeliest(step)) return false;
    cut = cut || keeps_likeliest(step);
    cold = cold || (step == SamplerStep::temperature && recipe_.temperature == 0 && recipe_.temperature_range == 0);
  }
  return cold;
}

void Sampling::run(SamplerStep step, std::span<const TokenId> so_far) {
  const auto& r = recipe_;
  const auto min_keep = std::size_t(r.min_keep);
  switch (step) {
    case SamplerStep::bias:
      return candidates_.edit(std::span<const TokenBias>(r.bias),
                              [](float logit, const TokenBias& bias) { return logit + bias.logit; });
    case SamplerStep::penalties: return penalise_tokens(candidates_, r, so_far);
    case SamplerStep::dry: return penalise_sequences(candidates_, r, breakers_, so_far);
    case SamplerStep::top_n_sigma: return cut_top_n_sigma(candidates_, r.top_n_sigma);
    case SamplerStep::top_k: return candidates_.keep_likeliest(std::size_t(r.top_k));
    case SamplerStep::typical_p: return cut_typical(candidates_, r.typical_p, min_keep);
    case SamplerStep::top_p: return cut_top_p(candidates_, r.top_p, min_keep);
    case SamplerStep::min_p: return cut_min_p(candidates_, r.min_p, min_keep);
    case SamplerStep::xtc: return cut_xtc(candidates_, r.xtc_probability, r.xtc_threshold, min_keep, random_);
    case SamplerStep::infill:
      if (tokenizer_) cut_infill(candidates_, *tokenizer_);
      return;
    case SamplerStep::temperature:
      if (r.temperature_range > 0)
        return heat_by_entropy(candidates_, r.temperature, r.temperature_range, r.temperature_exponent);
      return heat(candidates_, r.temperature);
  }
}

TokenId Sampling::draw(const Watch& watch) {
  if (mirostat_) {
    mirostat_->cut(candidates_);
    if (watch) watch("mirostat", candidates_);
    return mirostat_->choose(candidates_, random_);
  }
  if (adaptive_) {
    adaptive_->reweigh(candidates_);
    if (watch) watch("adaptive", candidates_);
    return adaptive_->choose(candidates_, random_);
  }
  return runtime::draw(candidates_, random_);
}

TokenId Sampling::choose(std::span<const float> logits, std::span<const TokenId> so_far, const Watch& watch,
                         const Maxima* known) {
  candidates_.start(logits, known);
  if (recipe_.adjust) candidates_.change([&](std::span<float> changed) { recipe_.adjust(changed, so_far); });
  if (watch && recipe_.adjust) watch("adjust", candidates_);
  for (const auto step : steps_) {
    if (greedy_ && !watch && !changes_logits(step)) continue;
    run(step, so_far);
    if (watch) watch(name(step), candidates_);
  }
  if (greedy_) candidates_.keep_likeliest(1);
  return draw(watch);
}

}  // namespace inlay::runtime

// The C door to samplers.
#include "api/c_api.hpp"

namespace inlay::api {

Sampler sampler_of(const inlay_sampler* given) {
  const auto c = versioned<inlay_sampler>(given, INLAY_SAMPLER_INIT);
  Sampler sampler{.repeat_penalty = c.repeat_penalty,
                  .frequency_penalty = c.frequency_penalty,
                  .presence_penalty = c.presence_penalty,
                  .repeat_window = c.repeat_window,
                  .dry_multiplier = c.dry_multiplier,
                  .dry_base = c.dry_base,
                  .dry_allowed = c.dry_allowed,
                  .dry_window = c.dry_window,
                  .top_n_sigma = c.top_n_sigma,
                  .top_k = c.top_k,
                  .typical_p = c.typical_p,
                  .top_p = c.top_p,
                  .min_p = c.min_p,
                  .xtc_probability = c.xtc_probability,
                  .xtc_threshold = c.xtc_threshold,
                  .temperature = c.temperature,
                  .temperature_range = c.temperature_range,
                  .temperature_exponent = c.temperature_exponent,
                  .mirostat = c.mirostat,
                  .mirostat_tau = c.mirostat_tau,
                  .mirostat_eta = c.mirostat_eta,
                  .adaptive_target = c.adaptive_target,
                  .adaptive_decay = c.adaptive_decay,
                  .min_keep = c.min_keep};
  if (c.grammar) sampler.grammar = c.grammar->grammar;
  if (c.seeded) sampler.seed = c.seed;
  if (c.adjust) {
    sampler.adjust = [c](std::span<float> logits, std::span<const TokenId> so_far) {
      c.adjust(c.user, logits.data(), logits.size(), so_far.data(), so_far.size());
    };
  }
  for (const auto& bias : list(c.bias, c.bias_count, "bias")) sampler.bias.push_back({bias.id, bias.logit});
  if (c.dry_breakers) sampler.dry_breakers.clear();
  for (const auto text : list(c.dry_breakers, c.dry_breakers_count, "dry_breakers"))
    sampler.dry_breakers.emplace_back(view(text));
  for (const auto step : list(c.order, c.order_count, "order")) sampler.order.push_back(static_cast<SamplerStep>(step));
  return sampler;
}

}  // namespace inlay::api

using namespace inlay::api;

inlay_status inlay_sampler_describe(const inlay_sampler* sampler, char* bytes, size_t capacity, size_t* count,
                                    inlay_error* error) {
  return status_of(error, [&] { return deliver(sampler_of(sampler).describe(), bytes, capacity, count); });
}

inlay_status inlay_session_explain(inlay_session* session, const inlay_sampler* sampler, int32_t top,
                                   void (*step)(void* user, inlay_text name, const inlay_alternative* candidates,
                                                size_t n),
                                   void* user, inlay_error* error) {
  return status_of(error, [&] {
    required(step, "step");
    const auto steps = required(session, "session").session.explain(sampler_of(sampler), top);
    for (const auto& s : steps) step(user, text(s.name), alternatives(s.candidates), s.candidates.size());
    return INLAY_OK;
  });
}

// The order of a sampler's steps, in one place.
#include "runtime/sampling_recipe.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "inlay/error.hpp"

namespace inlay::runtime {

namespace {

constexpr SamplerStep usual_order[] = {SamplerStep::bias,        SamplerStep::penalties, SamplerStep::dry,
                                       SamplerStep::top_n_sigma, SamplerStep::top_k,     SamplerStep::typical_p,
                                       SamplerStep::top_p,       SamplerStep::min_p,     SamplerStep::xtc,
                                       SamplerStep::temperature};
constexpr SamplerStep mirostat_order[] = {SamplerStep::bias, SamplerStep::temperature};

constexpr std::string_view names[] = {"bias",  "penalties", "dry", "top_n_sigma", "top_k",      "typical_p",
                                      "top_p", "min_p",     "xtc", "infill",      "temperature"};

std::span<const SamplerStep> order(const Sampler& s) {
  if (!s.order.empty()) return s.order;
  return s.mirostat != 0 ? std::span<const SamplerStep>(mirostat_order) : std::span<const SamplerStep>(usual_order);
}

bool active(const Sampler& s, SamplerStep step) {
  switch (step) {
    case SamplerStep::bias: return !s.bias.empty();
    case SamplerStep::penalties:
      return s.repeat_window != 0 && (s.repeat_penalty != 1 || s.frequency_penalty != 0 || s.presence_penalty != 0);
    case SamplerStep::dry: return s.dry_multiplier != 0 && s.dry_window != 0;
    case SamplerStep::top_n_sigma: return s.top_n_sigma > 0;
    case SamplerStep::top_k: return s.top_k > 0;
    case SamplerStep::typical_p: return s.typical_p < 1;
    case SamplerStep::top_p: return s.top_p < 1;
    case SamplerStep::min_p: return s.min_p > 0;
    case SamplerStep::xtc: return s.xtc_probability > 0 && s.xtc_threshold <= 0.5f;
    case SamplerStep::infill: return true;
    case SamplerStep::temperature: return s.temperature != 1 || s.temperature_range > 0;
  }
  return false;
}

std::string values(const Sampler& s, SamplerStep step) {
  switch (step) {
    case SamplerStep::bias: return fmt::format("{} tokens", s.bias.size());
    case SamplerStep::penalties:
      return fmt::format("repeat {} frequency {} presence {} window {}", s.repeat_penalty, s.frequency_penalty,
                         s.presence_penalty, s.repeat_window);
    case SamplerStep::dry:
      return fmt::format("{} base {} allowed {} window {}", s.dry_multiplier, s.dry_base, s.dry_allowed, s.dry_window);
    case SamplerStep::top_n_sigma: return fmt::format("{}", s.top_n_sigma);
    case SamplerStep::top_k: return fmt::format("{}", s.top_k);
    case SamplerStep::typical_p: return fmt::format("{}", s.typical_p);
    case SamplerStep::top_p: return fmt::format("{}", s.top_p);
    case SamplerStep::min_p: return fmt::format("{}", s.min_p);
    case SamplerStep::xtc: return fmt::format("{} threshold {}", s.xtc_probability, s.xtc_threshold);
    case SamplerStep::infill: return {};
    case SamplerStep::temperature:
      if (s.temperature_range <= 0) return fmt::format("{}", s.temperature);
      return fmt::format("{} range {} exponent {}", s.temperature, s.temperature_range, s.temperature_exponent);
  }
  return {};
}

std::string draw(const Sampler& s) {
  if (s.mirostat != 0) return fmt::format("mirostat {} tau {} eta {}", s.mirostat, s.mirostat_tau, s.mirostat_eta);
  if (s.adaptive_target >= 0) return fmt::format("adaptive {} decay {}", s.adaptive_target, s.adaptive_decay);
  return "draw";
}

[[noreturn]] void refuse(const char* field, const char* why) {
  throw Error(Errc::argument, fmt::format("Sampler::{} {}", field, why), Fault::bad_value, field);
}

void check_order(const Sampler& s) {
  bool few = false;  // candidates, so that they may be compared in pairs
  for (const auto step : s.order) {
    if (int(step) < 0 || std::size_t(step) >= std::size(names)) refuse("order", "names a step that does not exist");
    few = few || (step == SamplerStep::top_k && s.top_k > 0 && s.top_k <= 1000);
    if (step == SamplerStep::infill && !few) refuse("order", "must have top_k (at most 1000) before infill");
  }
}

}  // namespace

std::vector<SamplerStep> active_steps(const Sampler& recipe) {
  std::vector<SamplerStep> steps;
  std::ranges::copy_if(order(recipe), std::back_inserter(steps), [&](auto step) { return active(recipe, step); });
  return steps;
}

std::string_view name(SamplerStep step) { return names[std::size_t(step)]; }

void check(const Sampler& s) {
  const auto moderate = [](float x) { return std::abs(x) < 1e6f; };
  for (const auto& bias : s.bias)
    if (std::isnan(bias.logit) || bias.logit > 1e6f) refuse("bias", "must hold numbers up to 1000000");
  if (!(s.repeat_penalty > 0 && s.repeat_penalty < 1e6f)) refuse("repeat_penalty", "must be above 0");
  if (!moderate(s.frequency_penalty)) refuse("frequency_penalty", "must be a number below 1000000");
  if (!moderate(s.presence_penalty)) refuse("presence_penalty", "must be a number below 1000000");
  if (!(s.dry_multiplier >= 0 && moderate(s.dry_multiplier))) refuse("dry_multiplier", "must be 0 or above");
  if (!(s.dry_base >= 1 && moderate(s.dry_base))) refuse("dry_base", "must be at least 1");
  if (s.dry_allowed < 0) refuse("dry_allowed", "must not be negative");
  if (!moderate(s.top_n_sigma)) refuse("top_n_sigma", "must be a number below 1000000");
  if (s.top_k < 0) refuse("top_k", "must not be negative");
  if (!(s.typical_p > 0)) refuse("typical_p", "must be above 0");
  if (!(s.top_p > 0)) refuse("top_p", "must be above 0");
  if (!(s.min_p >= 0 && s.min_p <= 1)) refuse("min_p", "must be in [0, 1]");
  if (!(s.xtc_probability >= 0 && s.xtc_probability <= 1)) refuse("xtc_probability", "must be in [0, 1]");
  if (!(s.xtc_threshold >= 0)) refuse("xtc_threshold", "must not be negative");
  if (!(s.temperature >= 0 && s.temperature < 1e6f)) refuse("temperature", "must be 0 or above");
  if (!(s.temperature_range >= 0 && s.temperature_range < 1e6f)) refuse("temperature_range", "must be 0 or above");
  if (!(s.temperature_exponent >= 0 && moderate(s.temperature_exponent)))
    refuse("temperature_exponent", "must be 0 or above");
  if (s.mirostat < 0 || s.mirostat > 2) refuse("mirostat", "must be 0, 1 or 2");
  if (!(s.mirostat_tau >= 0 && moderate(s.mirostat_tau))) refuse("mirostat_tau", "must be 0 or above");
  if (!moderate(s.mirostat_eta)) refuse("mirostat_eta", "must be a number below 1000000");
  if (!(s.adaptive_target <= 1)) refuse("adaptive_target", "must be at most 1");
  if (s.adaptive_target >= 0 && s.mirostat != 0) refuse("adaptive_target", "excludes mirostat: both replace the draw");
  if (!(s.adaptive_decay >= 0 && s.adaptive_decay <= 1)) refuse("adaptive_decay", "must be in [0, 1]");
  if (s.min_keep < 0) refuse("min_keep", "must not be negative");
  check_order(s);
}

std::string describe(const Sampler& recipe) {
  std::string text;
  if (recipe.grammar) text += "grammar -> ";
  if (recipe.adjust) text += "adjust -> ";
  for (const auto step : active_steps(recipe)) {
    const auto numbers = values(recipe, step);
    text += fmt::format("{}{}{} -> ", name(step), numbers.empty() ? "" : " ", numbers);
  }
  return text + draw(recipe);
}

}  // namespace inlay::runtime

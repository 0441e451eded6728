// The steps of a Sampler, each as its formula.
#include "runtime/sampling.hpp"

#include <bit>

namespace inlay::runtime {

namespace {

constexpr SamplerStep default_order[] = {SamplerStep::penalties, SamplerStep::top_k, SamplerStep::top_p,
                                         SamplerStep::min_p, SamplerStep::temperature};

// e^x in f32 for x <= 0, without branches, so that compilers vectorise its loops.
inline float quick_exponential(float x) {
  x = std::max(x, -87.f);
  const float shifted = x * 1.44269504f + 12582912.f, n = shifted - 12582912.f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const float p =
      1 + r * (1 + r * (0.5f + r * (0.16666667f + r * (0.041666668f + r * (0.0083333338f + r * 0.0013888889f)))));
  return p * std::bit_cast<float>((std::bit_cast<std::int32_t>(shifted) << 23) + 0x3f800000);
}

float highest(std::span<const float> logits) {
  float lanes[8];
  std::fill_n(lanes, 8, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + 8 <= logits.size(); i += 8)
    for (int lane = 0; lane < 8; ++lane) lanes[lane] = logits[i + lane] > lanes[lane] ? logits[i + lane] : lanes[lane];
  for (; i < logits.size(); ++i) lanes[0] = std::max(lanes[0], logits[i]);
  return *std::max_element(lanes, lanes + 8);
}

// NaN is whatever differs from itself; +infinity has no softmax.
void check(std::span<const float> logits) {
  int bad = 0;
  for (const float x : logits) bad |= !(x < std::numeric_limits<float>::infinity());
  if (bad) throw Error(Errc::device, "the model's logits are not finite numbers");
  if (highest(logits) == -std::numeric_limits<float>::infinity())
    throw Error(Errc::argument, "no token is allowed any more: every logit is -infinity");
}

}  // namespace

double log_sum(std::span<const float> logits) {
  const float top = highest(logits);
  double total = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += 4096) {  // short runs keep f32 sums exact enough
    const auto part = logits.subspan(begin, std::min<std::size_t>(4096, logits.size() - begin));
    float lanes[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= part.size(); i += 8)
      for (int lane = 0; lane < 8; ++lane) lanes[lane] += quick_exponential(part[i + lane] - top);
    for (; i < part.size(); ++i) lanes[0] += quick_exponential(part[i] - top);
    for (const float lane : lanes) total += lane;
  }
  return double(top) + std::log(total);
}

void Sampling::penalise(std::span<float> logits, std::span<const TokenId> so_far) {
  if (recipe_.repeat_penalty == 1 || recipe_.repeat_window == 0) return;
  const auto window =
      recipe_.repeat_window < 0 ? so_far.size() : std::min(so_far.size(), std::size_t(recipe_.repeat_window));
  std::vector<TokenId> seen(so_far.end() - std::ptrdiff_t(window), so_far.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  const auto penalty = recipe_.repeat_penalty;
  const auto apply = [&](float& logit) { logit = logit > 0 ? logit / penalty : logit * penalty; };
  if (candidates_.empty()) {
    for (const auto id : seen)
      if (std::size_t(id) < logits.size()) apply(logits[std::size_t(id)]);
    return;
  }
  for (auto& c : candidates_)
    if (std::binary_search(seen.begin(), seen.end(), c.id)) apply(c.logit);
  std::sort(candidates_.begin(), candidates_.end(), before);
}

void Sampling::gather(std::span<const float> logits) {
  if (candidates_.empty()) candidates_ = likeliest(logits, logits.size());
}

void Sampling::cut_to_probability(float p) {
  double total = 0, sum = 0;
  for (const auto& c : candidates_) total += exponential(double(c.logit) - candidates_[0].logit);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    sum += exponential(double(candidates_[i].logit) - candidates_[0].logit);
    if (sum >= p * total) return candidates_.resize(i + 1);
  }
}

void Sampling::cut_to_fraction(float p) {
  const double top = candidates_[0].logit;
  while (candidates_.size() > 1 && exponential(candidates_.back().logit - top) < p) candidates_.pop_back();
}

TokenId Sampling::draw() {
  double total = 0, sum = 0;
  for (const auto& c : candidates_) total += exponential(double(c.logit) - candidates_[0].logit);
  const double target = random_.uniform() * total;
  for (const auto& c : candidates_) {
    sum += exponential(double(c.logit) - candidates_[0].logit);
    if (sum > target) return c.id;
  }
  return candidates_[0].id;  // rounding left nothing above the target
}

TokenId Sampling::choose(std::span<float> logits, std::span<const TokenId> so_far) {
  check(logits);
  candidates_.clear();
  if (recipe_.adjust) recipe_.adjust(logits, so_far), check(logits);
  const std::span<const SamplerStep> order =
      recipe_.order.empty() ? std::span(default_order) : std::span<const SamplerStep>(recipe_.order);
  if (recipe_.temperature <= 0) {
    if (std::find(order.begin(), order.end(), SamplerStep::penalties) != order.end()) penalise(logits, so_far);
    return likeliest(logits, 1)[0].id;
  }
  for (const auto step : order) switch (step) {
      case SamplerStep::penalties: penalise(logits, so_far); break;
      case SamplerStep::top_k:
        if (recipe_.top_k > 0 && candidates_.empty())
          candidates_ = likeliest(logits, std::size_t(recipe_.top_k));
        else if (recipe_.top_k > 0)
          candidates_.resize(std::min(candidates_.size(), std::size_t(recipe_.top_k)));
        break;
      case SamplerStep::top_p:
        if (recipe_.top_p < 1) gather(logits), cut_to_probability(recipe_.top_p);
        break;
      case SamplerStep::min_p:
        if (recipe_.min_p > 0) gather(logits), cut_to_fraction(recipe_.min_p);
        break;
      case SamplerStep::temperature:
        gather(logits);
        for (auto& c : candidates_) c.logit /= recipe_.temperature;
        break;
    }
  gather(logits);
  return draw();
}

}  // namespace inlay::runtime

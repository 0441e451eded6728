// Finding the likeliest tokens without sorting a vocabulary.
#include "runtime/sampling_candidates.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "inlay/error.hpp"
#include "runtime/elementary.hpp"

namespace inlay::runtime {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t lanes = 8;

// e^x for x <= 0 in f32 with an error of 4e-6, without branches, so that compilers vectorise its loops.
inline float quick_exponential(float x) {
  // No less than -126. Of numbers that are not above zero those with larger bits are smaller, and compilers put a
  // minimum of bits into vectors where they leave a maximum of floats alone.
  const auto bits = std::min(std::bit_cast<std::uint32_t>(x * 1.44269504f), std::bit_cast<std::uint32_t>(-126.f));
  const float y = std::bit_cast<float>(bits);
  const float rounded = y + 12582912.f, fraction = y - (rounded - 12582912.f);
  const float p =
      1 + fraction * (0.69314718f +
                      fraction * (0.24022651f +
                                  fraction * (0.055504109f + fraction * (0.0096181291f + fraction * 0.0013333558f))));
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(p) + (std::bit_cast<std::int32_t>(rounded) << 23));
}

bool plain_maxima(const float* logits, std::int64_t count, float* largest) noexcept {
  bool bad = false;
  for (std::int64_t begin = 0; begin < count; begin += std::int64_t(RowPasses::stretch)) {
    float most = -infinity;
    for (auto i = begin; i < std::min(count, begin + std::int64_t(RowPasses::stretch)); ++i)
      bad |= !(logits[i] < infinity), most = logits[i] > most ? logits[i] : most;
    *largest++ = most;
  }
  return !bad;
}

double plain_mass(const float* logits, std::int64_t count, float top) noexcept {
  constexpr std::int64_t run = 4096;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += run) {
    const auto end = std::min(count, begin + run);
    float sums[lanes] = {};
    auto i = begin;
    for (; i + lanes <= end; i += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += quick_exponential(logits[i + lane] - top);
    for (; i < end; ++i) sums[0] += quick_exponential(logits[i] - top);
    for (const float sum : sums) total += sum;
  }
  return total;
}

}  // namespace

const RowPasses plain_passes = {plain_maxima, plain_mass};

double Maxima::log_sum(std::span<const float> logits) const {
  const float top = largest();
  return double(top) + logarithm(passes_.mass(logits.data(), std::int64_t(logits.size()), top));
}

double log_sum(std::span<const float> logits, const RowPasses& passes) {
  Maxima maxima(passes);
  maxima.find(logits);
  return maxima.log_sum(logits);
}

void Maxima::find(std::span<const float> logits) {
  maxima_.resize((logits.size() + stretch - 1) / stretch);
  if (!passes_.maxima(logits.data(), std::int64_t(logits.size()), maxima_.data()))
    throw Error(Errc::device, "the model's logits are not finite numbers");
  if (maxima_.empty() || largest() == -infinity)
    throw Error(Errc::argument, "no token is allowed any more: every logit is -infinity");
}

void Maxima::find_again(std::span<const float> logits, std::size_t changed) {
  const auto i = changed / stretch, count = std::min(stretch, logits.size() - i * stretch);
  passes_.maxima(logits.data() + i * stretch, std::int64_t(count), &maxima_[i]);
}

void Maxima::likeliest(std::span<const float> logits, std::size_t k, CandidateList& best) const {
  k = std::min(k, logits.size());
  best.clear();
  best.reserve(k + 1);
  for (std::size_t i = 0; i < maxima_.size() && k > 0; ++i) {
    if (best.size() == k && !(maxima_[i] > best.front().logit)) continue;
    const auto end = std::min((i + 1) * stretch, logits.size());
    for (auto id = i * stretch; id < end; ++id) {
      const Candidate candidate{TokenId(id), logits[id]};
      if (best.size() == k && !before(candidate, best.front())) continue;
      if (best.size() == k) std::pop_heap(best.begin(), best.end(), before), best.pop_back();
      best.push_back(candidate);
      std::push_heap(best.begin(), best.end(), before);
    }
  }
  std::sort_heap(best.begin(), best.end(), before);
}

void Candidates::start(std::span<const float> logits, const Maxima* known) {
  if (known)
    maxima_ = *known;
  else
    maxima_.find(logits);
  logits_ = logits;
  list_.clear();
  whole_ = true;
}

std::span<float> Candidates::own() {
  if (logits_.data() != copy_.data()) copy_.assign(logits_.begin(), logits_.end());
  logits_ = copy_;
  return copy_;
}

CandidateList& Candidates::list() {
  if (whole_) keep_likeliest(logits_.size());
  return list_;
}

void Candidates::keep_likeliest(std::size_t k) {
  leading(k);
  keep_leading(k);
}

std::span<const Candidate> Candidates::leading(std::size_t k) {
  if (whole_) maxima_.likeliest(logits_, k, list_);
  return std::span<const Candidate>(list_).first(std::min(k, list_.size()));
}

void Candidates::keep_leading(std::size_t k) {
  list_.resize(std::min(k, list_.size()));
  whole_ = false;
}

double Candidates::mass() const {
  const double top = largest();
  double sum = 0;
  each([&](TokenId, float logit) { sum += exponential(double(logit) - top); });
  return sum;
}

}  // namespace inlay::runtime

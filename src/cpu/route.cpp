// Which experts each token goes to, and with what weight.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/plan.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

void softmax(const float* x, std::int64_t n, float* y) noexcept {
  const float largest = *std::max_element(x, x + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i] - largest));
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(std::exp(static_cast<double>(x[i] - largest)) / sum);
}

// The largest value, the lowest index among equals; any index where all are NaN.
std::int64_t best_of(const float* scores, std::int64_t n) noexcept {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    if (scores[i] > scores[best] || std::isnan(scores[best])) best = i;
  }
  return best;
}

// Takes the experts of all but the best groups out of the choice; `best` has room for a score of each group.
void keep_best_groups(const inlay_route_op& op, float* scores, std::int64_t experts, float* best) noexcept {
  const std::int64_t size = experts / op.groups;
  for (int g = 0; g < op.groups; ++g) {
    const float* group = scores + g * size;
    const std::int64_t first = best_of(group, size);
    best[g] = group[first];
    if (op.group_top != 2 || size < 2) continue;
    float second = never;
    for (std::int64_t i = 0; i < size; ++i) second = i == first ? second : std::max(second, group[i]);
    best[g] += second;
  }
  for (int left = op.groups - op.groups_used; left > 0; --left) {  // drops the worst, the highest index among equals
    int worst = -1;
    for (int g = 0; g < op.groups; ++g) {
      if (!std::isnan(best[g]) && (worst < 0 || best[g] <= best[worst])) worst = g;
    }
    if (worst < 0) return;
    std::fill_n(scores + worst * size, size, never);
    best[worst] = std::numeric_limits<float>::quiet_NaN();  // dropped
  }
}

// The share of the best among those left that are near it; those taken are NaN.
float share_of_near(const float* left, std::int64_t n, float best) noexcept {
  double sum = 0;
  for (std::int64_t e = 0; e < n; ++e) {
    if (std::isnan(left[e]) || (best - left[e]) / std::max(std::abs(left[e]), best) > 0.02f) continue;
    sum += std::exp(static_cast<double>(left[e]) - best);
  }
  return static_cast<float>(1 / sum);
}

void route_token(const inlay_route_op& op, const float* logits, float* scratch, std::int32_t* choice,
                 float* weight) noexcept {
  const std::int64_t experts = op.logits->shape[op.logits->rank - 1], chosen = op.choice->shape[op.choice->rank - 1];
  float *shares = scratch, *scores = scratch + experts;
  std::copy_n(logits, experts, shares);
  if (op.kind == INLAY_ROUTE_SOFTMAX) softmax(logits, experts, shares);
  if (op.kind == INLAY_ROUTE_SIGMOID) {
    std::transform(logits, logits + experts, shares,
                   [](float x) { return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x)))); });
  }
  std::copy_n(shares, experts, scores);
  const auto* bias = op.bias ? static_cast<const float*>(op.bias->data) : nullptr;
  for (std::int64_t e = 0; bias && e < experts; ++e) scores[e] += bias[e];
  if (op.groups > 1) keep_best_groups(op, scores, experts, scratch + 2 * experts);
  for (std::int64_t c = 0; c < chosen; ++c) {
    const std::int64_t best = best_of(scores, experts);
    choice[c] = static_cast<std::int32_t>(best);
    weight[c] = op.kind == INLAY_ROUTE_SPARSE_MIXER ? share_of_near(scores, experts, scores[best]) : shares[best];
    scores[best] = std::numeric_limits<float>::quiet_NaN();  // taken
  }
  if (op.kind == INLAY_ROUTE_SOFTMAX_CHOSEN) softmax(weight, chosen, weight);
  double sum = 0;
  for (std::int64_t c = 0; c < chosen; ++c) sum += weight[c];
  if (op.kind != INLAY_ROUTE_SIGMOID) sum = std::max(sum, 6.1e-5);
  const double divisor = op.normalise && sum > 0 ? sum : 1.0;
  const auto* factor = op.factor ? static_cast<const float*>(op.factor->data) : nullptr;
  for (std::int64_t c = 0; c < chosen; ++c) {
    weight[c] = static_cast<float>(weight[c] / divisor * op.scale);
    if (factor) weight[c] *= factor[choice[c]];
  }
}

void route(const Chunk& chunk) noexcept {
  const auto& op = *static_cast<const inlay_route_op*>(chunk.task);
  const Rows logits(*op.logits), weight(*op.weight);
  const RowsOf<std::int32_t> choice(*op.choice);
  const Share share(logits.count, chunk);
  for (auto t = share.begin; t < share.end; ++t) {
    route_token(op, logits[t], reinterpret_cast<float*>(chunk.scratch), choice[t], weight[t]);
  }
}

}  // namespace

bool can(const Kernels&, const inlay_route_op& op) noexcept {
  const std::int64_t experts = op.logits->shape[op.logits->rank - 1], chosen = op.choice->shape[op.choice->rank - 1];
  return op.kind <= INLAY_ROUTE_SPARSE_MIXER && op.choice->type == INLAY_I32 && op.logits->type == INLAY_F32 &&
         op.weight->type == INLAY_F32 && chosen <= experts && (op.groups <= 1 || experts % op.groups == 0) &&
         (!op.bias || (op.bias->type == INLAY_F32 && op.bias->rank == 1)) &&
         (!op.factor || (op.factor->type == INLAY_F32 && op.factor->rank == 1));
}

void plan(Plan& plan, const inlay_route_op& op) {
  const std::int64_t experts = op.logits->shape[op.logits->rank - 1], tokens = op.logits->shape[0];
  const std::size_t scratch = sizeof(float) * static_cast<std::size_t>(2 * experts + std::max(op.groups, 0));
  plan.phase(route, &op, std::min<std::int64_t>((tokens + 7) / 8, 4 * plan.workers()), scratch);
}

}  // namespace inlay::cpu

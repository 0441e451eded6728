// Plans which keys each token is to read: first the keys to choose by are stored, then a few tokens at a time choose.
#include <algorithm>

#include "cpu/attention.hpp"
#include "cpu/plan.hpp"

namespace inlay::cpu {
namespace {

bool is_f32(const inlay_tensor* tensor, std::uint32_t rank) noexcept {
  return tensor && tensor->type == INLAY_F32 && tensor->rank == rank;
}

// The attention whose scores choose: it has no values.
inlay_attention_op scoring_of(const inlay_choose_op& op) noexcept {
  inlay_attention_op scoring = {};
  scoring.size = sizeof scoring;
  scoring.mask = INLAY_MASK_CAUSAL;
  scoring.q = op.q, scoring.k = op.k, scoring.cache = op.cache;
  return scoring;
}

// So many tokens that widening a block of keys is worth it.
std::int64_t tokens_of_a_unit(const inlay_choose_op& op) noexcept {
  constexpr std::int64_t rows = 128;
  return std::max<std::int64_t>(1, rows / op.q->shape[1]);
}

bool chooses(const Plan& plan, const inlay_choose_op& op, int sequence) noexcept {
  return plan.batch().table[op.cache->table].length[sequence] > op.y->shape[2];
}

}  // namespace

bool can(const Kernels&, const inlay_choose_op& op) noexcept {
  if (!is_f32(op.q, 3) || !is_f32(op.k, 3) || (op.weight && !is_f32(op.weight, 2))) return false;
  if (!op.y || op.y->type != INLAY_I32 || op.y->rank != 3 || !op.cache || !can_cache(*op.cache)) return false;
  const std::int64_t heads = op.q->shape[1], dims = op.q->shape[2];
  return op.cache->kind == INLAY_CACHE_LATENT && op.cache->heads == 1 && op.cache->k_dim == dims &&
         op.k->shape[1] == 1 && op.k->shape[2] == dims && op.y->shape[1] == (op.weight ? 1 : heads) &&
         (!op.weight || op.weight->shape[1] == heads) && op.run >= 1 && op.local >= (op.run > 1 ? 1 : 0) &&
         op.y->shape[2] >= op.run && op.y->shape[2] % op.run == 0;
}

void plan(Plan& plan, const inlay_choose_op& op) {
  ChoosingTask task = {};
  const auto* scoring = plan.task(scoring_of(op));
  task.op = &op;
  task.scoring.op = scoring;
  task.scoring.keys = key_layout(*op.cache);
  task.scoring.values = value_layout(*op.cache);
  task.scoring.heads = 1;
  task.scoring.key_dims = static_cast<int>(op.q->shape[2]);
  const std::int64_t together = tokens_of_a_unit(op);
  task.scoring.most_rows = static_cast<int>(together * op.q->shape[1]);
  auto* units = plan.kept<ChoosingUnit>(static_cast<std::size_t>(plan.batch().tokens));
  task.units = units;
  for (int s = 0; s < plan.batch().seqs; ++s) {
    if (!chooses(plan, op, s)) continue;
    const SequenceView sequence = view_of(plan.batch(), *scoring, s);
    task.most_runs = std::max(task.most_runs, (sequence.length + op.run - 1) / op.run);
    for (auto first = sequence.first; first < sequence.end; first += together)
      *units++ = {s, first, std::min(first + together, sequence.end)};
  }
  const auto* made = plan.task(task);
  constexpr int tokens_of_a_chunk = 16;
  plan.phase(plan.kernels().attention.store, &made->scoring,
             (plan.batch().tokens + tokens_of_a_chunk - 1) / tokens_of_a_chunk,
             AttentionScratch(task.scoring, nullptr).bytes);
  plan.phase(plan.kernels().attention.choose, made, units - task.units, ChoosingScratch(task, nullptr).bytes);
}

}  // namespace inlay::cpu

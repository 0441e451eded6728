// The reference's attention: the softmax of all visible scores of one query at a time, in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/reference_cache.hpp"

namespace inlay::cpu::reference {
namespace {

// One sequence of a step: its tokens are [first, end), the last of them has position length - 1.
struct Sequence {
  std::int64_t first, end, length;
  const std::int32_t* pages;      // null: keys and values are those of the step itself
  std::int64_t trunk, trunk_end;  // tokens of the step before its own; none: 0, 0
  std::int64_t position(std::int64_t token) const { return length - (end - token); }
};

Sequence sequence_of(const Step& step, const inlay_attention_op& op, std::int64_t index) {
  const std::int64_t first = step.batch.query_start[index], end = step.batch.query_start[index + 1];
  if (!op.cache) return {first, end, end - first, nullptr, 0, 0};
  const inlay_page_table& table = step.batch.table[op.cache->table];
  Sequence sequence = {first, end, table.length[index], table.page_ids + table.page_start[index], 0, 0};
  if (step.batch.trunk && step.batch.trunk[index] >= 0) {
    sequence.trunk = step.batch.query_start[step.batch.trunk[index]];
    sequence.trunk_end = sequence.trunk + step.batch.shared[index];
  }
  return sequence;
}

std::int64_t slot_of(const inlay_cache& cache, const Sequence& sequence, std::int64_t position) {
  return std::int64_t{sequence.pages[position / cache.page_size]} * cache.page_size + position % cache.page_size;
}

bool visible(const inlay_attention_op& op, std::int64_t query, std::int64_t key) {
  switch (op.mask) {
    case INLAY_MASK_ALL: return true;
    case INLAY_MASK_SLIDING: return key <= query && query - key < op.window;
    case INLAY_MASK_CHUNKED: return key <= query && key >= query / op.window * op.window;
    case INLAY_MASK_SYMMETRIC: return std::abs(query - key) <= op.window / 2;
    default: return key <= query;
  }
}

// T5: distances up to half of the buckets have one each, longer ones share logarithmically wider ones up to 128.
std::int64_t bucket_of(std::int64_t buckets, bool both_ways, std::int64_t query, std::int64_t key) {
  std::int64_t start = 0, distance = std::max<std::int64_t>(query - key, 0);
  if (both_ways) {
    buckets /= 2;
    start = key > query ? buckets : 0;
    distance = std::abs(query - key);
  }
  const std::int64_t exact = buckets / 2;
  if (distance < exact) return start + distance;
  const double share = std::log2(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log2(128.0 / static_cast<double>(exact));
  return start + std::min(buckets - 1, exact + static_cast<std::int64_t>(share * static_cast<double>(buckets - exact)));
}

void copy_head(const Step& step, const inlay_tensor& tensor, const inlay_rope_op* rope, std::int64_t token, int head,
               float* out) {
  std::copy_n(row_of(tensor, token * tensor.shape[1] + head), columns(tensor), out);
  if (rope) rotate(step, *rope, token, out);
}

void store_step(const Step& step, const inlay_attention_op& op, const Sequence& sequence) {
  HostVector<float> vector(static_cast<std::size_t>(columns(*op.k)), HostAllocator<float>(step.host));
  const auto store_token = [&](std::int64_t token, std::int64_t position) {
    const std::int64_t slot = slot_of(*op.cache, sequence, position);
    for (int head = 0; head < op.cache->heads; ++head) {
      copy_head(step, *op.k, op.rope_k, token, head, vector.data());
      store(*op.cache, keys, slot, head, vector.data());
      if (op.cache->kind == INLAY_CACHE_KV)
        store(*op.cache, values, slot, head, row_of(*op.v, token * op.cache->heads + head));
    }
  };
  const std::int64_t shared = sequence.trunk_end - sequence.trunk, own = sequence.position(sequence.first);
  for (std::int64_t i = 0; i < shared; ++i) store_token(sequence.trunk + i, own - shared + i);
  for (std::int64_t token = sequence.first; token < sequence.end; ++token) store_token(token, sequence.position(token));
}

// Positions [from, to) of one head's keys or values; those that no query sees may be gone and are not touched.
void load_head(const Step& step, const inlay_attention_op& op, const Sequence& sequence, Half half, int head,
               std::int64_t from, Matrix& vectors) {
  HostVector<float> vector(static_cast<std::size_t>(vectors.cols()), HostAllocator<float>(step.host));
  for (std::int64_t position = from; position < vectors.rows(); ++position) {
    if (op.cache) {
      load(*op.cache, half, slot_of(*op.cache, sequence, position), head, vector.data());
    } else if (half == keys) {
      copy_head(step, *op.k, op.rope_k, sequence.first + position, head, vector.data());
    } else {
      copy_head(step, *op.v, nullptr, sequence.first + position, head, vector.data());
    }
    std::copy(vector.begin(), vector.end(), vectors.row(position).data());
  }
}

double biased(const inlay_attention_op& op, double score, std::int64_t query, std::int64_t key, int head) {
  if (op.softcap != 0) score = op.softcap * std::tanh(score / op.softcap);
  if (op.slopes) score -= value_at(*op.slopes, head) * std::abs(static_cast<double>(query - key));
  if (op.bias) {
    const bool both_ways = op.mask == INLAY_MASK_ALL || op.mask == INLAY_MASK_SYMMETRIC;
    score += row_of(*op.bias, bucket_of(op.bias->shape[0], both_ways, query, key))[head];
  }
  return score;
}

// 1 for each key that a token's query head reads, 0 for the others.
void find_read(const inlay_attention_op& op, const Sequence& sequence, std::int64_t token, std::int64_t group,
               HostVector<std::uint8_t>& read) {
  const std::int64_t position = sequence.position(token);
  const bool chosen = op.choice && sequence.length > op.choice->shape[2];
  for (std::int64_t key = 0; key < sequence.length; ++key)
    read[static_cast<std::size_t>(key)] = !chosen && visible(op, position, key);
  if (!chosen) return;
  const std::int64_t lists = op.choice->shape[1], most = op.choice->shape[2], run = op.chosen_run;
  const auto* list = static_cast<const std::int32_t*>(row_address(*op.choice, token * lists + group % lists));
  const std::int64_t count = position < most ? position + 1 : most - run + position % run + 1;
  for (std::int64_t i = 0; i < count; ++i) read[static_cast<std::size_t>(list[i])] = 1;
}

void attend(const inlay_attention_op& op, std::int64_t position, int head, const double* query, const Matrix& key_rows,
            const Matrix& value_rows, const HostVector<std::uint8_t>& read, Matrix& sum) {
  const Eigen::Map<const Eigen::VectorXd> q(query, key_rows.cols());
  double largest = op.sinks ? value_at(*op.sinks, head) : -std::numeric_limits<double>::infinity();
  Eigen::Map<Rows> scores(sum.row(1).data(), 1, key_rows.rows());
  for (std::int64_t key = 0; key < key_rows.rows(); ++key) {
    if (!read[static_cast<std::size_t>(key)]) continue;
    scores(0, key) = biased(op, op.scale * key_rows.row(key).dot(q), position, key, head);
    largest = std::max(largest, scores(0, key));
  }
  double total = op.sinks ? std::exp(value_at(*op.sinks, head) - largest) : 0;
  auto result = sum.row(0).head(value_rows.cols());
  result.setZero();
  for (std::int64_t key = 0; key < key_rows.rows(); ++key) {
    if (!read[static_cast<std::size_t>(key)]) continue;
    const double share = std::exp(scores(0, key) - largest);
    total += share;
    result += share * value_rows.row(key);
  }
  if (total > 0) result /= total;
}

// All queries of the heads that share one head of keys and values.
void attend_group(const Step& step, const inlay_attention_op& op, const Sequence& sequence, int group, int groups) {
  const std::int64_t heads = op.q->shape[1], value_columns = columns(*op.y);
  std::int64_t from = sequence.position(sequence.first);  // the oldest position that anyone sees
  while (from > 0 && visible(op, sequence.position(sequence.first), from - 1)) --from;
  if (op.mask == INLAY_MASK_ALL) from = 0;
  Matrix key_rows(step.host, sequence.length, columns(*op.q)), value_rows(step.host, sequence.length, value_columns);
  load_head(step, op, sequence, keys, group, from, key_rows);
  load_head(step, op, sequence, values, group, from, value_rows);
  Matrix sum(step.host, 2, std::max<std::int64_t>(sequence.length, value_columns));
  HostVector<float> query(static_cast<std::size_t>(columns(*op.q)), HostAllocator<float>(step.host));
  HostVector<double> wide(query.size(), HostAllocator<double>(step.host));
  HostVector<std::uint8_t> read(static_cast<std::size_t>(sequence.length), HostAllocator<std::uint8_t>(step.host));
  for (std::int64_t token = sequence.first; token < sequence.end; ++token) {
    find_read(op, sequence, token, group, read);
    for (std::int64_t head = group * heads / groups; head < (group + 1) * heads / groups; ++head) {
      copy_head(step, *op.q, op.rope_q, token, static_cast<int>(head), query.data());
      std::copy(query.begin(), query.end(), wide.begin());
      attend(op, sequence.position(token), static_cast<int>(head), wide.data(), key_rows, value_rows, read, sum);
      float* y = row_of(*op.y, token * heads + head);
      for (std::int64_t i = 0; i < value_columns; ++i) y[i] = static_cast<float>(sum(0, i));
    }
  }
}

// The best score in each run of keys that a token sees, for one of its lists.
void score_runs(const inlay_choose_op& op, std::int64_t token, std::int64_t list, std::int64_t position,
                const Matrix& key_rows, HostVector<double>& runs) {
  const std::int64_t heads = op.q->shape[1];
  std::fill(runs.begin(), runs.end(), -std::numeric_limits<double>::infinity());
  for (std::int64_t key = 0; key <= position; ++key) {
    double score = 0;
    for (std::int64_t h = op.weight ? 0 : list; h < (op.weight ? heads : list + 1); ++h) {
      const Eigen::Map<const Eigen::VectorXf> query(row_of(*op.q, token * heads + h), columns(*op.q));
      const double product = key_rows.row(key).dot(query.cast<double>());
      score += op.weight ? row_of(*op.weight, token)[h] * std::max(0.0, product) : product;
    }
    auto& run = runs[static_cast<std::size_t>(key / op.run)];
    if (score > run) run = score;
  }
}

void choose(const inlay_choose_op& op, std::int64_t token, std::int64_t list, std::int64_t position,
            HostVector<double>& runs) {
  const std::int64_t count = position / op.run + 1;
  auto* y = static_cast<std::int32_t*>(row_address(*op.y, token * op.y->shape[1] + list));
  for (std::int64_t r = std::max<std::int64_t>(0, count - op.local); r < count; ++r)
    runs[static_cast<std::size_t>(r)] = std::numeric_limits<double>::infinity();
  for (std::int64_t r = 0; r < count; ++r) {
    const double own = runs[static_cast<std::size_t>(r)];
    std::int64_t better = 0;
    for (std::int64_t other = 0; other < count; ++other) {
      const double score = runs[static_cast<std::size_t>(other)];
      better += score > own || (score == own && other < r);
    }
    if (better >= op.y->shape[2] / op.run) continue;
    for (auto key = r * op.run; key < (r + 1) * op.run && key <= position; ++key) *y++ = static_cast<std::int32_t>(key);
  }
}

}  // namespace

void run(const Step& step, const inlay_choose_op& op) {
  inlay_attention_op scoring = {};
  scoring.k = op.k, scoring.cache = op.cache;
  for (std::int64_t index = 0; index < step.batch.seqs; ++index) {
    const Sequence sequence = sequence_of(step, scoring, index);
    store_step(step, scoring, sequence);
    if (sequence.length <= op.y->shape[2]) continue;
    Matrix key_rows(step.host, sequence.length, columns(*op.q));
    load_head(step, scoring, sequence, keys, 0, 0, key_rows);
    HostVector<double> runs(static_cast<std::size_t>(sequence.length), HostAllocator<double>(step.host));
    for (std::int64_t token = sequence.first; token < sequence.end; ++token) {
      for (std::int64_t list = 0; list < op.y->shape[1]; ++list) {
        score_runs(op, token, list, sequence.position(token), key_rows, runs);
        choose(op, token, list, sequence.position(token), runs);
      }
    }
  }
}

void run(const Step& step, const inlay_attention_op& op) {
  const int groups = !op.q ? 0 : op.cache ? op.cache->heads : static_cast<int>(op.k->shape[1]);
  for (std::int64_t index = 0; index < step.batch.seqs; ++index) {
    const Sequence sequence = sequence_of(step, op, index);
    if (op.cache && op.k) store_step(step, op, sequence);
    for (int group = 0; group < groups; ++group) attend_group(step, op, sequence, group, groups);
  }
}

}  // namespace inlay::cpu::reference

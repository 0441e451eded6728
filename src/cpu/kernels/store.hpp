// Puts this step's keys, turned where asked, and values into the cache.
#pragma once

#include <algorithm>

#include "cpu/attention.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/simd/narrow.hpp"

namespace inlay::cpu {
namespace {

// The same as write_vector, by vectors for the types that have an instruction.
template <class A>
inline void write_words(const VectorLayout& layout, std::byte* head, std::int64_t row, const float* x) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size);
  if ((layout.type != INLAY_F16 && layout.type != INLAY_BF16) || layout.dims % lanes != 0)
    return write_vector(layout, head, row, x);
  auto* target =
      reinterpret_cast<std::uint16_t*>(head + (layout.tiled ? row / tile_keys * tile_keys : row) * layout.row_bytes);
  const std::int64_t lane = row % tile_keys;
  for (int d = 0; d < layout.dims; d += lanes) {
    std::uint16_t words[lanes];
    const B numbers = B::load_unaligned(x + d);
    layout.type == INLAY_F16 ? narrow_half(A(), numbers, words) : narrow_bfloat16(A(), numbers, words);
    for (int i = 0; i < lanes; ++i) target[layout.tiled ? (d + i) * tile_keys + lane : d + i] = words[i];
  }
}

// One token's key and value for one head.
template <class A>
inline void store_token(const AttentionTask& task, const SequenceView& sequence, std::int64_t token,
                        std::int64_t position, int head, float* vector) noexcept {
  const inlay_attention_op& op = *task.op;
  const inlay_cache& cache = *op.cache;
  std::byte* page = page_address(cache, sequence.pages[position / cache.page_size]);
  const std::int64_t row = position % cache.page_size;
  const float* key = Rows(*op.k)[token * task.heads + head];
  if (task.key_turns) {
    std::copy_n(key, task.key_dims, vector);
    rotate_head(*op.rope_k, task.key_turns + token * (op.rope_k->dims / 2), key, vector);
    key = vector;
  }
  write_words<A>(task.keys, page + task.keys.offset + head * task.keys.head_bytes, row, key);
  if (cache.kind == INLAY_CACHE_LATENT) return;
  const float* value = Rows(*op.v)[token * task.heads + head];
  write_words<A>(task.values, page + task.values.offset + head * task.values.head_bytes, row, value);
}

template <class A>
void store(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const AttentionTask*>(chunk.task);
  auto* vector = reinterpret_cast<float*>(chunk.scratch);
  const Share share(chunk.batch->tokens, chunk);
  for (int s = 0; s < chunk.batch->seqs; ++s) {
    const SequenceView sequence = view_of(*chunk.batch, *task.op, s);
    sequence.each_stored(share.begin, share.end, [&](std::int64_t token, std::int64_t position) {
      for (int head = 0; head < task.heads; ++head) store_token<A>(task, sequence, token, position, head, vector);
    });
  }
}

}  // namespace
}  // namespace inlay::cpu

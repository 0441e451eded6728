// Reading an indexer's weights, and the keys and queries that it chooses by.
#include "inlay/nn/indexer.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr int most_keys = 1 << 20;

int sized(const Metadata& m, std::string_view key, int value, int most) {
  if (value < 1 || value > most) m.refuse(key, "is " + std::to_string(value) + ", out of range");
  return value;
}

int sized(const Metadata& m, std::string_view key, int most) { return sized(m, key, m.integer(key), most); }

int block_size(const Metadata& m) {
  constexpr std::string_view key = "attention.indexer.block_size";
  return sized(m, key, m.integer(key, 1), most_keys);
}

// Its first numbers turn as those of the attention that it serves.
Rope rope_of(const Weights& w, const Metadata& m, Shape s, std::int64_t size, Pairing pairing) {
  if (s.rope_dims > size) m.refuse("attention.indexer.key_length", "is less than what is rotated");
  auto rope = s.rope(w, m, pairing);
  rope.magnitude = 1;  // as that of all scores it would change no choice
  return rope;
}

Cache keys_of(std::int64_t size) {
  return {.kv_heads = 1, .head_dim = int(size), .value_dim = int(size), .latent = true};
}

}  // namespace

int chosen_keys(const Metadata& m) {
  constexpr std::string_view key = "attention.indexer.top_k";
  const std::int64_t keys = std::int64_t(sized(m, key, most_keys)) * block_size(m);
  if (keys > most_keys) m.refuse(key, "chooses " + std::to_string(keys) + " keys, too many");
  return int(keys);
}

LightningIndexer::LightningIndexer(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing)
    : heads(sized(m, "attention.indexer.head_count", 1 << 12)),
      size(sized(m, "attention.indexer.key_length", 1 << 14)),
      q(w, "indexer.attn_q_b", m.integer("attention.q_lora_rank"), heads * size),
      k(w, "indexer.attn_k", s.dim, size),
      weight(w, "indexer.proj", s.dim, heads),
      k_norm(w, "indexer.k_norm", size, 1e-6f),
      rope(rope_of(w, m, s, size, pairing)) {}

void LightningIndexer::operator()(const Tensor& x, const Tensor& low, const Chosen& chosen, int layer) const {
  const auto queries = q(low).split(heads), keys = k_norm(k(x)).split(1);
  rope(queries.columns(plain, size - plain));
  rope(keys.columns(plain, size - plain));
  x.step->choose(chosen.first_cache + layer, chosen.keys, queries, keys, weight(x), {});
}

Cache LightningIndexer::cache() const { return keys_of(size); }

BlockIndexer::BlockIndexer(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing)
    : heads(sized(m, "attention.indexer.head_count", 1 << 12)),
      size(sized(m, "attention.indexer.key_length", 1 << 14)),
      spec{.run = block_size(m), .local = sized(m, "attention.indexer.local_blocks", most_keys)},
      q(w, "indexer.q_proj", s.dim, heads * size),
      k(w, "indexer.k_proj", s.dim, size),
      q_norm(w, "indexer.q_norm", size, s.eps),
      k_norm(w, "indexer.k_norm", size, s.eps),
      rope(rope_of(w, m, s, size, pairing)) {
  if (heads != s.kv_heads) m.refuse("attention.indexer.head_count", "is not that of keys and values");
}

void BlockIndexer::operator()(const Tensor& x, const Chosen& chosen, int layer) const {
  const auto queries = q_norm(q(x).split(heads)), keys = k_norm(k(x).split(1));
  rope(queries);
  rope(keys);
  x.step->choose(chosen.first_cache + layer, chosen.keys, queries, keys, {}, spec);
}

Cache BlockIndexer::cache() const { return keys_of(size); }

}  // namespace nn
}  // namespace v0
}  // namespace inlay

// Sparse attention: scores from a few small heads choose the keys that a token's attention reads.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// Which keys each token reads, [T, lists, n]; and the cache of the keys by which layer 0 chooses, behind those of all
/// layers. Empty where contexts are too short for a choice.
struct Chosen {
  Tensor keys;
  int first_cache;
};

/// Scores of the keys that a small head of its own makes of each token: the sum over heads of w_h max(0, q_h k'), w
/// from the layer's input and q from the low-rank one of its queries. DeepSeek-AI 2025. Weights "indexer.*".
struct INLAY_API LightningIndexer {
  std::int64_t heads = 0, size = 0;
  std::int64_t plain = 0;  ///< numbers of a head that stand before the rotated ones
  Linear q, k, weight;
  LayerNorm k_norm;
  Rope rope;

  LightningIndexer() = default;
  LightningIndexer(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing);
  explicit operator bool() const noexcept { return bool(k); }
  void operator()(const Tensor& x, const Tensor& low, const Chosen& chosen, int layer) const;
  Cache cache() const;
};

/// One choice of blocks of keys for each head of keys and values, by the best score q_h k' of a block. MiniMax 2026.
struct INLAY_API BlockIndexer {
  std::int64_t heads = 0, size = 0;
  ChooseSpec spec;
  Linear q, k;
  RmsNorm q_norm, k_norm;
  Rope rope;

  BlockIndexer() = default;
  BlockIndexer(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing);
  explicit operator bool() const noexcept { return bool(k); }
  void operator()(const Tensor& x, const Chosen& chosen, int layer) const;
  Cache cache() const;
};

/// What a file's indexers choose: n keys, "attention.indexer.top_k" runs of "attention.indexer.block_size" each.
INLAY_API int chosen_keys(const Metadata& m);

/// A decoder whose layers are told which keys to read, and choose them by indexer, a member of each. Layers are built
/// without one where no context is longer than what they would choose.
template <class Layer, class Norm = RmsNorm>
class ChoosingDecoder : public Decoder<Layer, Norm> {
 public:
  ChoosingDecoder(const Metadata& m, const Weights& w) : ChoosingDecoder(m, w, chosen_keys(m)) {}
  ChoosingDecoder(const Metadata& m, const Weights& w, int keys)
      : Decoder<Layer, Norm>(m, w), most(m.context > keys ? keys : 0) {}
  Tensor operator()(Step& step) const { return this->decode(this->embed(step), chosen(step)); }
  std::vector<Cache> caches() const {
    auto all = Decoder<Layer, Norm>::caches();
    if (most > 0)
      for (const auto& layer : this->layers) all.push_back(layer.indexer ? layer.indexer.cache() : Cache{});
    return all;
  }

 protected:
  Chosen chosen(Step& step) const {
    Chosen chosen{.first_cache = int(this->layers.size())};
    if (most > 0) chosen.keys = step.scratch({step.tokens(), Layer::lists(this->shape), most}, INLAY_I32);
    return chosen;
  }

  int most = 0;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay

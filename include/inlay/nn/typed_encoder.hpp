// The outer shape of BERT's kin: embed, add the types of tokens, norm, layers.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// x += table[which of two texts a token is of], "token_types"; nothing where the file has none.
struct TokenTypes {
  Tensor table, only;  ///< `only`: the one row of models that tell no texts apart
  TokenTypes(const Weights& w, std::int64_t dim) {
    const auto shape = w.shape("token_types.weight");
    if (shape.size() == 2 && shape[0] > 1)
      table = w.table("token_types.weight", {shape[0], dim});
    else if (!shape.empty())
      only = w("token_types.weight", {1, dim});
  }
  void add_to(Tensor& x) const {
    if (table) x += x.step->embed_types(table);
    if (only) x += only;
  }
};

template <class Layer>
class TypedEncoder : public Encoder<Layer> {
 public:
  TypedEncoder(const Metadata& m, const Weights& w)
      : Encoder<Layer>(m, w), types(w, this->shape.dim), norm(w, "token_embd_norm", this->shape.dim, this->shape.eps) {}

  Tensor operator()(Step& step) const { return encode(this->embed(step)); }

 protected:
  Tensor encode(Tensor x) const {
    types.add_to(x);
    x = norm(x);
    x.step->through(this->layers, x);
    return x;
  }

  TokenTypes types;
  LayerNorm norm;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay

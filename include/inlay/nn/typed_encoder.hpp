// The outer shape of BERT's kin that have no table of positions: embed, add the type of the first text, norm, layers.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

template <class Layer>
class TypedEncoder : public Encoder<Layer> {
 public:
  TypedEncoder(const Metadata& m, const Weights& w)
      : Encoder<Layer>(m, w),
        types(first_row(w, "token_types.weight", this->shape.dim)),
        norm(w, "token_embd_norm", this->shape.dim, this->shape.eps) {}

  Tensor operator()(Step& step) const {
    auto x = this->embed(step);
    if (types) x += types;
    x = norm(x);
    step.through(this->layers, x);
    return x;
  }

 protected:
  Tensor types;
  LayerNorm norm;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay

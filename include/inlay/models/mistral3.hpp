// Ministral 3 and Mistral Small 3: Llama with YaRN and queries that grow with the position.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Mistral3Layer : nn::LlamaLike {
  nn::Tensor temperature;  // [context, 1], by position
  Mistral3Layer(const nn::Weights& w, const nn::Metadata& m, int) : Mistral3Layer(w, m, nn::Shape(m)) {}
  Mistral3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.hidden)),
        temperature(nn::temperatures(w, m, "rope.scaling.original_context_length")) {}

  void operator()(nn::Tensor& x, int i) const {
    auto heads = attention.project(attn_norm(x));
    if (temperature)
      heads.q = (heads.q.join() * x.step->embed_positions(temperature)).split(attention.spec.attend.heads);
    x += attention.o(attention.attend(heads, i));
    x += feed(mlp_norm(x));
  }
};

struct Mistral3 : nn::Decoder<Mistral3Layer> {
  static constexpr std::string_view name = "mistral3";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

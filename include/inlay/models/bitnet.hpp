// BitNet and its b1.58 (2B4T), with squared ReLU: Llama with a norm before each output projection; ternary weights.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += o(norm(attend(norm(x))));  x += down(norm(act(gate) * up))
template <nn::Act act>
struct BitnetLayer : nn::LlamaLike {
  nn::RmsNorm attn_sub_norm, mlp_sub_norm;
  BitnetLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden, act)),
        attn_sub_norm(w, "attn_sub_norm", std::int64_t(s.heads) * s.head_dim, s.eps),
        mlp_sub_norm(w, "ffn_sub_norm", s.hidden, s.eps) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention.o(attn_sub_norm(attention.attend(attention.project(attn_norm(x)), i)));
    const auto h = mlp_norm(x);
    const auto gate = feed.gate(h);
    x += feed.down(mlp_sub_norm(x.step->glu(act, gate, feed.up(h))));
  }
};

struct Bitnet : nn::Decoder<BitnetLayer<nn::Act::silu>> {
  static constexpr std::string_view name = "bitnet";
  using Decoder::Decoder;
};

struct BitnetB158 : nn::Decoder<BitnetLayer<nn::Act::relu2>> {
  static constexpr std::string_view name = "bitnet-b1.58";
  static constexpr std::string_view also[] = {"bitnet-25"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

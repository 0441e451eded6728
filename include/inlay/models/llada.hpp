// LLaDA, Dream and RND1: texts are filled in by diffusion, so every token sees what comes after it, too.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)), or experts, whose weights are brought to 1 where `normalise`
template <nn::Pairing pairing, bool normalise>
struct FillingLayer : nn::MoeLike {
  FillingLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.encoder_attention(w, m, pairing),
                     nn::FeedForward(w, m, s,
                                     {.hidden = s.hidden / std::max(1, m.integer("expert_used_count", 1)),
                                      .normalise = normalise})) {}
};

struct Llada : nn::FillingDecoder<FillingLayer<nn::Pairing::adjacent, false>> {
  static constexpr std::string_view name = "llada";
  using FillingDecoder::FillingDecoder;
};

struct Dream : nn::FillingDecoder<FillingLayer<nn::Pairing::halves, false>> {
  static constexpr std::string_view name = "dream";
  static constexpr std::string_view also[] = {"llada-moe"};
  using FillingDecoder::FillingDecoder;
};

struct Rnd1 : nn::FillingDecoder<FillingLayer<nn::Pairing::halves, true>> {
  static constexpr std::string_view name = "rnd1";
  using FillingDecoder::FillingDecoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

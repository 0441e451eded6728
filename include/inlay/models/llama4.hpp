// Llama 4: chunked attention with rotation on three of four layers, experts whose input is weighted.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP between
struct Llama4Layer : nn::MoeLike {
  Llama4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : Llama4Layer(w, m, s, i, chunked(m) && (i + 1) % 4 == 0) {}
  Llama4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i, bool whole)
      : PreNormLayer(w, s, spec(w, m, s, whole), nn::FeedForward(w, m, s, experts(m), sparse(m, i))) {
    if (whole)
      attention.temperature =
          nn::position_scale(w, m, [](int p) { return 1 + 0.1f * std::log(1 + std::floor((p + 1) / 8192.f)); });
    else if (m.integer("expert_count", 0) != 128)  // rotated heads are normed, without gains
      attention.q_gain = attention.k_gain = w.constant(std::vector<float>(std::size_t(s.head_dim), 1.f));
  }

  static bool chunked(const nn::Metadata& m) { return m.integer("attention.sliding_window", 8192) != 0; }
  static bool sparse(const nn::Metadata& m, int i) {
    const int step = m.integer("interleave_moe_layer_step", 0);
    return step > 0 && (i + 1) % step == 0;
  }
  static nn::Moe::Defaults experts(const nn::Metadata& m) {
    const auto hidden = m.integer("expert_feed_forward_length", 0);
    return {.hidden = hidden, .gating = INLAY_ROUTE_SIGMOID, .shared_hidden = hidden, .weight_first = true};
  }
  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, bool whole) {
    if (whole) return s.attention_unrotated();
    auto spec = s.attention(w, m);
    spec.norm_after_rope = true;
    if (chunked(m)) spec.attend.mask = nn::Mask::chunked, spec.attend.window = 8192;
    return spec;
  }
};

struct Llama4 : nn::Decoder<Llama4Layer> {
  static constexpr std::string_view name = "llama4";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

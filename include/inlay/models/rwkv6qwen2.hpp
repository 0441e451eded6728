// QRWKV 6: Qwen 2 with gated linear attention, which decays as RWKV 6 does, in place of its own.
#pragma once

#include "inlay/nn.hpp"
#include "inlay/nn/rwkv6.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// out(retention(r, (1 - w) * k, v, w) * sigmoid(gate)), w = exp(-exp(rate)), each of rate, k, v, r and the gate from
/// its own blend; heads of r share those of k and v
struct QrwkvTimeMix {
  std::int64_t dim, head, heads, kv_heads;
  nn::Rwkv6Blends blends;
  nn::Rwkv6Decay decay;
  nn::Linear r, k, v, gate, out;
  nn::Tensor shift;

  QrwkvTimeMix(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : dim(s.dim),
        head(nn::wkv_head(m, s)),
        heads(dim / head),
        kv_heads(s.kv_heads > 0 ? s.kv_heads : heads),
        blends(w, m, s),
        decay(w, m, s),
        r(w, "time_mix_receptance", dim, dim),
        k(w, "time_mix_key", dim, kv_heads * head),
        v(w, "time_mix_value", dim, kv_heads * head),
        gate(w, "time_mix_gate", dim, dim),
        out(w, "time_mix_output", dim, dim),
        shift(w.constant(std::vector<float>(std::size_t(dim), -far)).view_as({1, dim}, {dim, 1})) {
    if (heads % kv_heads != 0) m.refuse("attention.head_count_kv", "does not divide the heads");
  }

  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    auto& step = *x.step;
    const auto [of_rate, of_k, of_v, of_r, of_gate] = blends(x, layer);
    const auto rate = decay(of_rate), queries = r(of_r), values = shared(v(of_v));
    const auto keys = step.binary(INLAY_BINARY_MUL, shared(k(of_k)), forgotten(rate), -1);
    const auto y = step.scan(INLAY_SCAN_RETENTION, layer, values.split(heads),
                             {queries.split(heads), keys.split(heads), rate.split(heads)}, {x.rows(), heads, head},
                             int(heads), 1, nn::Act::none, 0, dim * 4);
    return out(y.join() * step.glu(nn::Act::sigmoid, gate(of_gate), {}));
  }

  nn::Cache cache() const { return {.state_bytes = (1 + head) * dim * 4}; }

 private:
  static constexpr float far = 16;  // where sigmoid(x) is exp(x), but for a part in ten million

  // w - 1: exp(rate) is read off the far end of a sigmoid, and exp(-x) - 1 is what xIELU does below 0.
  nn::Tensor forgotten(const nn::Tensor& rate) const {
    auto& step = *rate.step;
    auto power = step.glu(nn::Act::sigmoid, rate + shift, {});
    return step.glu(nn::Act::xielu, power *= -std::exp(far), {}, 0, 1, 1);
  }
  // Each head of keys or values as often as heads of queries share it.
  nn::Tensor shared(const nn::Tensor& x) const {
    if (kv_heads == heads) return x;
    const auto rows = x.rows() * kv_heads, times = heads / kv_heads;
    const auto all = x.step->scratch({x.rows(), dim});
    x.step->copy(x.view_as({rows, times, head}, {head, 0, 1}),
                 all.view_as({rows, times, head}, {times * head, head, 1}));
    return all;
  }
};

/// x += time_mix(norm(x));  x += mlp(norm(x))
struct Rwkv6Qwen2Layer : nn::PreNormLayer<nn::RmsNorm, nn::GatedMlp, QrwkvTimeMix> {
  Rwkv6Qwen2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, QrwkvTimeMix(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Rwkv6Qwen2 : nn::Decoder<Rwkv6Qwen2Layer> {
  static constexpr std::string_view name = "rwkv6qwen2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

// Networks beside a decoder that guess later tokens from what its last layer made, normed as for its own output. Their
// weights stand in the decoder's file.
#pragma once

#include <string>
#include <vector>

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// Head k guesses the token k + 1 after the next: output(h + silu(linear(h))), with one or more such blocks in a row.
/// Cai et al. 2024. Tensors "medusa.<head>.<block>" (weight [D, D] and bias) and "medusa.<head>.output".
struct INLAY_API Medusa {
  struct Head {
    explicit Head(std::pmr::memory_resource* memory) : blocks(memory) {}
    Layers<Linear> blocks;
    Linear output;
  };
  std::int64_t dim, vocabulary;
  Layers<Head> all;

  Medusa(const Metadata& m, const Weights& w);
  Tensor operator()(Step& step) const;  ///< [R, heads * V]
  std::vector<Cache> caches() const { return {}; }
  int heads() const { return int(all.size()); }
};

/// x = eh_proj [enorm(embed(t)); hnorm(h)] through one more layer, then norm and output: of a token t and what was made
/// of the one before it, the token after t. DeepSeek-AI 2024. Tensors "blk.N.nextn.*"; table, norm and output are the
/// decoder's where the block has none of its own. With several such blocks the first one serves.
template <class Layer, class Norm>
struct NextToken {
  Shape shape;
  Embedding embed;
  RmsNorm token_norm, hidden_norm;
  Linear join;
  Layers<Layer> layers;
  Norm norm;
  Tensor output;

  static Weights block(const Metadata& m, const Weights& w) { return w.layer(Shape(m).layers); }
  static bool stands_in(const Metadata& m, const Weights& w) { return block(m, w).has("nextn.eh_proj.weight"); }

  NextToken(const Metadata& m, const Weights& w) : NextToken(m, w, block(m, w), Shape(m)) {}
  NextToken(const Metadata& m, const Weights& w, const Weights& own, const Shape& s)
      : shape(s),
        embed(own.has("nextn.embed_tokens.weight") ? Embedding(own, "nextn.embed_tokens", s.vocabulary, s.dim)
                                                   : Embedding(w, "token_embd", s.vocabulary, s.dim)),
        token_norm(own, "nextn.enorm", s.dim, s.eps),
        hidden_norm(own, "nextn.hnorm", s.dim, s.eps),
        join(own, "nextn.eh_proj", 2 * std::int64_t(s.dim), s.dim),
        layers(w.memory()),
        norm(own.has("nextn.shared_head_norm.weight") ? Norm(own, "nextn.shared_head_norm", s.dim, s.eps)
                                                      : Norm(w, "output_norm", s.dim, s.eps)),
        output(own.maybe_matrix("nextn.shared_head_head.weight", {s.vocabulary, s.dim})) {
    layers.emplace_back(own, m, s.at(m, s.layers), s.layers);
    if (!output) output = w.maybe_matrix("output.weight", {s.vocabulary, s.dim});
    if (!output) output = w.matrix("token_embd.weight", {s.vocabulary, s.dim});
  }

  Tensor operator()(Step& step) const {
    const auto both = step.scratch({step.tokens(), 2 * std::int64_t(shape.dim)});
    step.copy(token_norm(embed(step)), both.columns(0, shape.dim));
    step.copy(hidden_norm(step.given(shape.dim)), both.columns(shape.dim, shape.dim));
    auto x = join(both);
    step.through(layers, x);
    if (step.keeps_hidden()) step.keep_hidden(norm(x));
    return step.linear(norm(step.pick_wanted(x)), output);
  }

  std::vector<Cache> caches() const { return {layers.front().cache()}; }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay

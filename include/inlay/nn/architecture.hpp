// A model as the runtime sees it, and the row that a list of architectures has for it.
#pragma once

#include <memory>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "inlay/nn/heads.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// A model as the runtime sees it: how it computes and what it keeps.
struct INLAY_API Network {
  virtual Tensor forward(Step&) const = 0;  ///< logits [R, V], or [T, D] where it encodes() or no row is wanted()
  virtual std::vector<Cache> caches() const = 0;
  virtual bool encodes() const { return false; }
  /// Tokens see those behind them, too: logits are of a text that is read whole, and nothing is kept of it.
  virtual bool looks_ahead() const { return false; }
  /// Of heads: how many tokens a row of logits is about, one after the other, [R, n * V]. 0: about one, and the next is
  /// guessed from that one and what the network keep_hidden().
  virtual int heads() const { return 0; }
  /// An encoder-decoder's pass over its source: [T, D], and what the decoder attends to is in the caches of_source.
  virtual Tensor read_source(Step&) const { return {}; }
  virtual bool reads_source() const { return false; }
  virtual ~Network();
};

/// One row of the list of architectures: a name in the file's "general.architecture", and how to build it, in the
/// memory of the weights.
struct Architecture {
  std::string_view name;
  std::shared_ptr<const Network> (*build)(const Metadata&, const Weights&);
  /// Heads that the file has beside the model, which guess later tokens from what it keep_hidden(); null: none.
  std::shared_ptr<const Network> (*heads)(const Metadata&, const Weights&) = nullptr;
};

/// A class like Decoder<...> as a network: built from (metadata, weights), called with a Step, asked for caches(). One
/// with read_source(Step) is an encoder-decoder, one with heads() guesses.
template <class M>
struct NetworkOf final : Network {
  static constexpr bool two_passes = requires(const M& model, Step& step) { model.read_source(step); };
  M model;
  NetworkOf(const Metadata& metadata, const Weights& weights) : model(metadata, weights) {}
  Tensor forward(Step& step) const override { return model(step); }
  std::vector<Cache> caches() const override { return model.caches(); }
  bool encodes() const override {
    if constexpr (requires { M::encodes; })
      return M::encodes;
    else
      return false;
  }
  bool looks_ahead() const override {
    if constexpr (requires { M::looks_ahead; })
      return M::looks_ahead;
    else
      return false;
  }
  int heads() const override {
    if constexpr (requires { model.heads(); })
      return model.heads();
    else
      return 0;
  }
  Tensor read_source(Step& step) const override {
    if constexpr (two_passes)
      return model.read_source(step);
    else
      return {};
  }
  bool reads_source() const override { return two_passes; }
};

/// A Decoder of layers that stand alone.
template <class M>
concept OfSuchLayers = requires(const typename M::Block& layer, const Metadata& m, const Weights& w, const Shape& s,
                                Tensor& x) {
  {typename M::Block(w, m, s, 0)};
  layer(x, 0);
};

template <class M>
std::shared_ptr<const Network> built(const Metadata& m, const Weights& w) {
  return std::allocate_shared<NetworkOf<M>>(std::pmr::polymorphic_allocator<>(w.memory()), m, w);
}

/// The heads of a file: Medusa's, or, behind a Decoder of layers that stand alone, the block that predicts the token
/// after the next.
template <class M>
std::shared_ptr<const Network> heads_of(const Metadata& m, const Weights& w) {
  if (w.has("medusa.0.output.weight")) return built<Medusa>(m, w);
  if constexpr (OfSuchLayers<M>)
    if (NextToken<typename M::Block, typename M::LastNorm>::stands_in(m, w))
      return built<NextToken<typename M::Block, typename M::LastNorm>>(m, w);
  return nullptr;
}

/// The row for such a class.
template <class M>
constexpr Architecture architecture(std::string_view name = M::name) {
  return {name, [](const Metadata& m, const Weights& w) -> std::shared_ptr<const Network> { return built<M>(m, w); },
          heads_of<M>};
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay

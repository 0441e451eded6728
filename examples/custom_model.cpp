// An architecture of your own: described with the parts in inlay/nn.hpp, and given to the loader. This one is Llama
// again.
#include <iostream>

#include "inlay/inlay.hpp"
#include "inlay/nn.hpp"

namespace nn = inlay::nn;

// x += attention(norm(x));  x += mlp(norm(x))
struct Layer {
  nn::RmsNorm attention_norm, mlp_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  Layer(const nn::Weights& weights, const nn::Metadata& metadata, const nn::Shape& shape, int)
      : attention_norm(weights, "attn_norm", shape.dim, shape.eps),
        mlp_norm(weights, "ffn_norm", shape.dim, shape.eps),
        attention(weights, shape.attention(weights, metadata)),
        mlp(weights, shape.dim, shape.hidden) {}

  void operator()(nn::Tensor& x, int layer) const {
    x += attention(attention_norm(x), layer);
    x += mlp(mlp_norm(x));
  }
  nn::Cache cache() const { return attention.cache(); }
};

int main(int argc, char** argv) {
  const auto mine = nn::architecture<nn::Decoder<Layer>>("llama");  // the file's general.architecture
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf", {.architectures = {&mine}});
  auto session = model.session();
  std::cout << session.generate("Once upon a time", inlay::Sampler::greedy(), {.tokens = 24}).text() << '\n';
}

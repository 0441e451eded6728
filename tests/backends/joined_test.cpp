// Proves that joined forms of a product give the bits of the operations that they join, and those the reference's
// values.
#include "tests/backends/weights.hpp"

using namespace backends;

namespace {

constexpr std::int64_t width = 256, height = 144;  // nine groups of 16 rows: some share a chunk

struct Layer {
  Batch batch;
  Device device;
  std::int64_t tokens;
  inlay_tensor x, gain, bias_k, bias_v, q, k, v, residual;

  Layer(const Candidate& candidate, Type type, std::int64_t count, Type type_of_k)
      : batch({int(count)}), device(candidate), tokens(count) {
    Random random(unsigned(7 * count) + unsigned(type));
    x = device.numbers({tokens, width}, random.floats(std::size_t(tokens * width)));
    gain = device.numbers({width}, random.floats(width));
    bias_k = device.numbers({height}, random.floats(height));
    bias_v = device.numbers({height / 3}, random.floats(height / 3));
    residual = device.numbers({tokens, height}, random.floats(std::size_t(tokens * height)));
    const auto weight = [&](std::int64_t rows, Type of) {
      return device.weight({rows, width}, std::uint32_t(of), random_weight(of, rows * width, random));
    };
    q = weight(height, type);
    k = weight(height, type_of_k);
    v = weight(height / 3, type);
  }
  inlay_tensor output(std::int64_t columns = height) { return device.empty({tokens, columns}); }
  inlay_norm_op norm(const inlay_tensor& y) const {
    return {.size = sizeof(inlay_norm_op),
            .kind = INLAY_NORM_RMS,
            .y = &y,
            .x = &x,
            .gain = &gain,
            .bias = nullptr,
            .eps = 1e-5f};
  }
};

template <class Test>
void for_each_case(const Test& test) {
  for (const Candidate& candidate : candidates()) {
    // each beside itself, and beside the next
    const Type types[] = {Type::F32, Type::F16, Type::Q8_0, Type::Q4_0, Type::Q2_K, Type::Q4_K, Type::Q6_K, Type::F32};
    for (int i = 0; i < 14; ++i) {
      const Type type = types[i / 2], other = types[(i + 1) / 2];
      for (const std::int64_t tokens : {1, 3, 4, 5, 33}) {
        INFO(candidate.isa << ", " << inlay::gguf::type_info(type).name << ", " << inlay::gguf::type_info(other).name
                           << ", " << tokens << " tokens");
        Layer layer(candidate, type, tokens, other);
        test(layer);
      }
    }
  }
}

constexpr float scales[] = {1.0f, 0.3f, -2.0f};

}  // namespace

TEST_CASE("norm, three products and their biases joined equal one after another, bit for bit") {
  for_each_case([](Layer& layer) {
    const auto normed = layer.output(width), y0 = layer.output(), y1 = layer.output(), y2 = layer.output(height / 3);
    const auto norm = layer.norm(normed);
    const inlay_tensor *weights[] = {&layer.q, &layer.k, &layer.v}, *outputs[] = {&y0, &y1, &y2};
    const inlay_tensor* biases[] = {nullptr, &layer.bias_k, &layer.bias_v};
    layer.device.run(layer.batch, inlay_linear_op{.size = sizeof(inlay_linear_op),
                                                  .n = 3,
                                                  .y = outputs,
                                                  .w = weights,
                                                  .bias = biases,
                                                  .scale = scales,
                                                  .norm = &norm});
    layer.device.run(layer.batch, norm);
    for (int i = 0; i < 3; ++i) {
      const auto y = layer.output(i == 2 ? height / 3 : height);
      const inlay_tensor* output[] = {&y};
      layer.device.run(layer.batch, inlay_linear_op{.size = sizeof(inlay_linear_op),
                                                    .n = 1,
                                                    .x = &normed,
                                                    .y = output,
                                                    .w = weights + i,
                                                    .bias = biases + i,
                                                    .scale = scales + i});
      check_equal(layer.device.read(*outputs[i]), layer.device.read(y));
    }
  });
}

TEST_CASE("a joined activation equals one after another, bit for bit") {
  for_each_case([](Layer& layer) {
    const auto normed = layer.output(width), joined = layer.output(), gate = layer.output(), up = layer.output(),
               y = layer.output();
    const auto norm = layer.norm(normed);
    const inlay_tensor *weights[] = {&layer.q, &layer.k}, *biases[] = {&layer.bias_k, nullptr};
    const inlay_tensor *one[] = {&joined, nullptr}, *two[] = {&gate, &up};
    for (const std::uint32_t act : {INLAY_ACT_SILU, INLAY_ACT_GELU, INLAY_ACT_GELU_TANH, INLAY_ACT_SWIGLU_CLAMPED}) {
      const inlay_glu_op glu = {
          .size = sizeof(inlay_glu_op), .act = act, .y = &y, .gate = &gate, .up = &up, .alpha = 1.7f, .limit = 2};
      inlay_linear_op linear = {
          .size = sizeof(inlay_linear_op), .n = 2, .y = one, .w = weights, .bias = biases, .norm = &norm, .glu = &glu};
      layer.device.run(layer.batch, linear);
      linear.y = two;
      linear.glu = nullptr;
      layer.device.run(layer.batch, linear);
      layer.device.run(layer.batch, glu);
      check_equal(layer.device.read(joined), layer.device.read(y));
    }
  });
}

TEST_CASE("a joined residual, added in place, equals one after another, bit for bit") {
  for_each_case([](Layer& layer) {
    const auto product = layer.output(), sum = layer.output();
    const inlay_tensor *weights[] = {&layer.q}, *output[] = {&product}, *in_place[] = {&layer.residual};
    inlay_linear_op linear = {.size = sizeof(inlay_linear_op), .n = 1, .x = &layer.x, .y = output, .w = weights};
    layer.device.run(layer.batch, linear);
    layer.device.run(layer.batch, inlay_binary_op{.size = sizeof(inlay_binary_op),
                                                  .kind = INLAY_BINARY_ADD,
                                                  .y = &sum,
                                                  .a = &layer.residual,
                                                  .b = &product,
                                                  .alpha = 1});
    linear.y = in_place;
    linear.add = &layer.residual;
    layer.device.run(layer.batch, linear);
    check_equal(layer.device.read(layer.residual), layer.device.read(sum));
  });
}

TEST_CASE("bias and scale of a product equal the reference's") {
  for (const Candidate& candidate : candidates()) {
    Floats results[2], plain;
    for (const Candidate& backend : {candidate, oracle}) {
      Layer layer(backend, Type::Q8_0, 5, Type::Q8_0);
      const auto y = layer.output();
      const inlay_tensor *weights[] = {&layer.k}, *output[] = {&y}, *biases[] = {&layer.bias_k};
      inlay_linear_op linear = {.size = sizeof(inlay_linear_op),
                                .n = 1,
                                .x = &layer.x,
                                .y = output,
                                .w = weights,
                                .bias = biases,
                                .scale = scales + 1};
      layer.device.run(layer.batch, linear);
      results[backend.backend == nullptr] = layer.device.read(y);
    }
    // Sums of 256 products of at most 1 and 2.54, and a bias of at most 1.
    check_within(results[0], results[1], [](std::size_t) { return 4 * 8 * epsilon * 0.3 * 256 * 2.54; });
  }
}

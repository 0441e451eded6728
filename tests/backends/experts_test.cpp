// Proves that every backend chooses experts as the reference does, and mixes what they give.
#include "tests/backends/weights.hpp"

using namespace backends;

namespace {

struct Routed {
  std::vector<std::int32_t> choice;
  Floats weight;
};

struct Router {
  std::uint32_t kind;
  int groups, groups_used, group_top;
  bool biased, normalised, weighed = false;
};

Routed route(Device& device, const Router& router, const Floats& logits, const Floats& bias) {
  Batch batch({7});
  const auto scores = device.numbers({7, 12}, logits), b = device.numbers({12}, bias);
  const auto choice = device.empty({7, 3}, INLAY_I32), weight = device.empty({7, 3});
  device.run(batch, inlay_route_op{.size = sizeof(inlay_route_op),
                                   .kind = router.kind,
                                   .choice = &choice,
                                   .weight = &weight,
                                   .logits = &scores,
                                   .bias = router.biased ? &b : nullptr,
                                   .groups = router.groups,
                                   .groups_used = router.groups_used,
                                   .group_top = router.group_top,
                                   .normalise = router.normalised,
                                   .scale = 2.5f,
                                   .factor = router.weighed ? &b : nullptr});
  return {device.read_indices(choice), device.read(weight)};
}

struct Mixture {
  Type type;
  std::uint32_t act = INLAY_ACT_SILU;
  bool has_up = true, biased = false, weight_first = false, accumulate = false, scaled = false, packed = true,
       factored = false;
  std::int32_t run = 1;
  std::int64_t tokens = 9;
};

constexpr std::int64_t experts = 4, chosen = 2, width = 256, hidden = 256;
constexpr float scales[] = {0.5f, 2, 0.25f};

Floats mix(Device& device, const Mixture& m) {
  Random random(unsigned(m.type) + 40), tokens(1);  // of their own, so that fewer tokens are the first of more
  Batch batch({int(m.tokens)});
  Floats inputs, weights, sums;
  std::vector<std::int32_t> choices;
  for (std::int64_t t = 0; t < m.tokens; ++t) {
    choices.push_back(std::int32_t(tokens.bits() % experts));
    choices.push_back((choices.back() + 1 + std::int32_t(tokens.bits() % (experts - 1))) % std::int32_t(experts));
    if (m.run > 1 && t % 3 == 0) choices.back() = *(choices.end() - 2);  // two that share one
    for (auto c = choices.end() - 2; c != choices.end(); ++c) *c = *c * m.run + std::int32_t(choices.end() - c) % m.run;
    for (std::int64_t i = 0; i < chosen; ++i) weights.push_back(tokens.uniform(0, 1));
    for (std::int64_t i = 0; i < width; ++i)
      inputs.push_back(tokens.uniform(-1, 1)), sums.push_back(tokens.uniform(-1, 1));
  }
  const auto x = device.numbers({m.tokens, width}, inputs), y = device.numbers({m.tokens, width}, sums);
  const auto choice = device.indices({m.tokens, chosen}, choices);
  const auto weight = device.numbers({m.tokens, chosen}, weights);
  const auto stack = [&](std::int64_t rows, std::int64_t columns) {
    const auto bytes = random_weight(m.type, experts * rows * columns, random);
    const Shape shape = {experts, rows, columns};
    return m.packed ? device.weight(shape, std::uint32_t(m.type), bytes)
                    : device.tensor(shape, std::uint32_t(m.type), bytes);
  };
  const auto gate = stack(hidden, width), up = stack(hidden, width), down = stack(width, hidden);
  const auto hidden_bias = device.numbers({experts, hidden}, random.floats(experts * hidden));
  const auto bias = device.numbers({experts, width}, random.floats(experts * width));
  const auto gate_factor = device.numbers({experts}, {0.5f, 1, 2, -3}),
             up_factor = device.numbers({experts}, {3, 2, 1, 4});
  device.run(batch, inlay_experts_op{.size = sizeof(inlay_experts_op),
                                     .act = m.act,
                                     .y = &y,
                                     .x = &x,
                                     .choice = &choice,
                                     .weight = &weight,
                                     .gate = &gate,
                                     .up = m.has_up ? &up : nullptr,
                                     .down = &down,
                                     .gate_bias = m.biased ? &hidden_bias : nullptr,
                                     .up_bias = m.biased && m.has_up ? &hidden_bias : nullptr,
                                     .down_bias = m.biased ? &bias : nullptr,
                                     .scale = m.scaled ? scales : nullptr,
                                     .alpha = 1.702f,
                                     .limit = 7,
                                     .weight_first = m.weight_first,
                                     .accumulate = m.accumulate,
                                     .gate_factor = m.factored ? &gate_factor : nullptr,
                                     .up_factor = m.factored ? &up_factor : nullptr,
                                     .run = m.run});
  return device.read(y);
}

// Between the products, about one value in ten thousand is rounded to the next of 254 steps of its block: that is what
// two backends differ by, beside the rounding of two products. Measured in the largest result, which is a sum of 256
// values, a step or two weigh at most a 508th. Where halves are multiplied as bfloat16, four factors of every value are
// rounded by at most a 256th, up or down: the sum's error and the sum itself both grow with the root of their number,
// so four of the error's deviations, 4 * sqrt(4 / 3) / 256 of one of the sum's, are less than a 64th of the largest of
// many.
void check_mixture(const Mixture& m) {
  Device reference(oracle);
  const Floats want = mix(reference, m);
  float largest = 0;
  for (const float value : want) largest = std::max(largest, std::abs(value));
  for (const Candidate& candidate : candidates()) {
    const double step = rounds_halves(candidate, m.type) ? 1.0 / 64 : is_float(m.type) ? 0 : 1.0 / 508;
    INFO(candidate.isa << ", " << inlay::gguf::type_info(m.type).name << ", " << m.tokens << " tokens");
    Device device(candidate), serial(candidate, 3, true);
    const Floats got = mix(device, m);
    Mixture as_in_file = m;
    as_in_file.packed = false;
    check_equal(mix(device, as_in_file), got);
    check_within(got, want, [&](std::size_t) { return largest * (step + 4 * 32 * epsilon); });
    check_equal(mix(serial, m), got);
  }
}

}  // namespace

TEST_CASE("experts are chosen and weighted as the reference does") {
  Random random(21);
  Floats logits = random.floats(7 * 12, 4), bias = random.floats(12);
  for (int e : {2, 5, 9}) logits[std::size_t(e)] = 5;  // equals: the lower index comes first
  std::fill(logits.begin() + 12, logits.begin() + 24, 0.0f);
  std::fill(logits.begin() + 24, logits.begin() + 36, -200.0f);  // sigmoids of nothing
  std::vector<Router> routers;
  for (const std::uint32_t kind :
       {INLAY_ROUTE_SOFTMAX, INLAY_ROUTE_SIGMOID, INLAY_ROUTE_SOFTMAX_CHOSEN, INLAY_ROUTE_SPARSE_MIXER}) {
    for (const auto& [groups, used, top] : {std::tuple{0, 0, 0}, {4, 2, 1}, {4, 3, 2}, {3, 1, 2}}) {
      for (const bool biased : {false, true}) {
        for (const bool normalised : {false, true}) routers.push_back({kind, groups, used, top, biased, normalised});
        routers.push_back({kind, groups, used, top, biased, true, true});
      }
    }
  }
  Device reference(oracle);
  for (const Candidate& candidate : candidates()) {
    Device device(candidate);
    for (const Router& router : routers) {
      INFO(candidate.isa << ", kind " << router.kind << ", " << router.groups << " groups");
      const Routed got = route(device, router, logits, bias), want = route(reference, router, logits, bias);
      CHECK(got.choice == want.choice);
      check_within(got.weight, want.weight, [&](std::size_t i) { return 8 * epsilon * std::abs(want.weight[i]); });
    }
  }
}

TEST_CASE("mixtures of experts equal the reference's") {
  for (const Type type : {Type::F32, Type::F16, Type::Q8_0, Type::Q4_0, Type::Q4_K, Type::Q6_K}) {
    check_mixture({.type = type});
    check_mixture({.type = type, .tokens = 1});
    check_mixture({.type = type, .act = INLAY_ACT_SWIGLU_CLAMPED, .biased = true, .accumulate = true});
  }
  check_mixture({.type = Type::Q8_0, .tokens = 70});
  check_mixture({.type = Type::F32, .act = INLAY_ACT_RELU2, .has_up = false, .scaled = true});
  check_mixture({.type = Type::Q4_0, .act = INLAY_ACT_RELU2, .has_up = false, .scaled = true});
  check_mixture({.type = Type::F32, .act = INLAY_ACT_SWIGLU_LIMITED, .biased = true, .scaled = true, .factored = true});
  check_mixture({.type = Type::Q4_0, .biased = true, .factored = true});
  check_mixture({.type = Type::F16, .weight_first = true});
  check_mixture({.type = Type::Q8_0, .weight_first = true});
  for (const std::int64_t tokens : {1, 9, 70})
    check_mixture({.type = Type::Q4_0, .biased = true, .run = 2, .tokens = tokens});
}

TEST_CASE("a token's mixture is the same alone and in any batch, bit for bit") {
  for (const Candidate& candidate : candidates()) {
    for (const Type type : {Type::F32, Type::Q8_0, Type::Q4_K}) {
      INFO(candidate.isa << ", " << inlay::gguf::type_info(type).name);
      Device device(candidate);
      const Floats whole = mix(device, {.type = type, .tokens = 40});
      for (const std::int64_t tokens : {1, 2, 5, 17}) {
        check_equal(mix(device, {.type = type, .tokens = tokens}),
                    Floats(whole.begin(), whole.begin() + tokens * width));
      }
    }
  }
}

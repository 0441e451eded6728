// Proves that every backend multiplies with every weight type as the reference does, whatever is joined to the product.
#include "tests/backends/weights.hpp"

using namespace backends;

namespace {

constexpr std::int64_t odd_height = 37;  // two groups of 16 rows, and five more

struct Problem {
  Type type;
  std::int64_t tokens, width, height;
  Bytes weight;
  Floats x;
};

Problem make_problem(Type type, std::int64_t tokens, std::int64_t blocks, unsigned seed,
                     std::int64_t height = odd_height) {
  Random random(seed);
  const std::int64_t width =
      blocks * std::max<std::int64_t>(inlay::gguf::type_info(type).block_values, is_float(type) ? 19 : 32);
  return {type,
          tokens,
          width,
          height,
          random_weight(type, width * height, random),
          random.floats(std::size_t(tokens * width))};
}

Floats multiply(Device& device, const Problem& p, bool packed = true) {
  Batch batch({int(p.tokens)});
  const auto x = device.numbers({p.tokens, p.width}, p.x);
  const Shape shape = {p.height, p.width};
  const auto w = packed ? device.weight(shape, std::uint32_t(p.type), p.weight)
                        : device.tensor(shape, std::uint32_t(p.type), p.weight);
  const auto y = device.empty({p.tokens, p.height});
  const inlay_tensor *weights[] = {&w}, *outputs[] = {&y};
  device.run(batch, inlay_linear_op{.size = sizeof(inlay_linear_op), .n = 1, .x = &x, .y = outputs, .w = weights});
  return device.read(y);
}

bool can_multiply(Device& device, Type type) {
  const inlay_tensor x = {nullptr, INLAY_F32, 2, {1, 256}, {1024}}, y = {nullptr, INLAY_F32, 2, {1, 16}, {64}};
  const inlay_tensor w = {nullptr, std::uint32_t(type), 2, {16, 256}, {std::int64_t(inlay::gguf::bytes_of(type, 256))}};
  inlay_tensor packed = {};
  if (device.backend().pack(device.handle(), &w, INLAY_ROLE_MATRIX, 0, 0, &packed) == SIZE_MAX) return false;
  const inlay_tensor *weights[] = {packed.rank ? &packed : &w}, *outputs[] = {&y};
  const inlay_linear_op op = {.size = sizeof op, .n = 1, .x = &x, .y = outputs, .w = weights};
  return device.backend().can(device.handle(), INLAY_OP_LINEAR, &op) != 0;
}

// Calls test(candidate, type) for all types: every backend must multiply with each.
template <class Test>
void for_each_type(const Test& test) {
  for (const Candidate& candidate : candidates()) {
    for (const BlockForm& form : block_forms) {
      INFO(candidate.isa << ", " << inlay::gguf::type_info(form.type).name);
      Device device(candidate);
      REQUIRE(can_multiply(device, form.type));
      test(candidate, form.type);
    }
  }
}

// The product that such a candidate computes, of numbers that are rounded beforehand.
Problem as_met(const Candidate& candidate, Problem p) {
  if (!rounds_halves(candidate, p.type)) return p;
  Floats weights = values_of(p.type, p.weight, p.width * p.height);
  for (Floats* numbers : {&weights, &p.x}) {
    for (float& number : *numbers) number = as_bfloat(number);
  }
  p.type = Type::F32;
  p.weight.resize(weights.size() * sizeof(float));
  std::memcpy(p.weight.data(), weights.data(), p.weight.size());
  return p;
}

Floats weights_as_met(const Candidate& candidate, const Problem& p) {
  const Problem met = as_met(candidate, p);
  return values_of(met.type, met.weight, met.width * met.height);
}

// x as it meets quantized weights: blocks of 32 columns in steps of a 127th of their largest magnitude.
Floats rounded(const Problem& p) {
  Floats x = p.x;
  for (std::size_t first = 0; !is_float(p.type) && first < x.size(); first += 32) {
    float largest = 0;
    for (std::size_t i = first; i < first + 32; ++i) largest = std::max(largest, std::abs(x[i]));
    for (std::size_t i = first; i < first + 32; ++i) {
      x[i] = largest < 1e-36f ? 0 : std::nearbyint(x[i] * (127 / largest)) * (largest / 127);
    }
  }
  return x;
}

// sum |x w| for each output: what rounding errors are measured in.
Floats magnitudes(const Problem& p) {
  const Floats w = values_of(p.type, p.weight, p.width * p.height), x = rounded(p);
  Floats sums;
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    for (std::int64_t n = 0; n < p.height; ++n) {
      double sum = 0;
      for (std::int64_t i = 0; i < p.width; ++i) {
        sum += std::abs(double{x[std::size_t(t * p.width + i)]} * w[std::size_t(n * p.width + i)]);
      }
      sums.push_back(float(sum));
    }
  }
  return sums;
}

// With one accumulator, a term is rounded at most three times when it is made (product of scales, times the block's
// integer sum, times 1 for float types) and once for each addition after it, and the result once more in either
// backend. So n terms stay within (n + 5) / 2 epsilon sum|x w|, which 3 n epsilon sum|x w| covers from n = 1 on. Types
// with a minimum for each block add two terms a block, and their parts may each be larger than the sum of the two: 4 n.
// Products of bfloat16 are exact, and sums of them rounded as others; numbers, products and sums below `tiny` are zero.
double bound_factor(const Problem& p) {
  const double terms = is_float(p.type) ? double(p.width) : double(p.width) / 32;
  return 4 * std::max(terms, 1.0) * epsilon;
}

void check_against_reference(const Candidate& candidate, const Problem& p) {
  Device device(candidate), reference(oracle);
  const Problem met = as_met(candidate, p);
  const Floats sums = magnitudes(met);
  const double lost = (rounds_halves(candidate, p.type) ? 3 : 1) * double(p.width) * tiny;
  check_within(multiply(device, p), multiply(reference, met),
               [&](std::size_t i) { return bound_factor(met) * sums[i] + lost; });
}

}  // namespace

TEST_CASE("products equal the reference's for every weight type and ragged shape") {
  for_each_type([](const Candidate& candidate, Type type) {
    unsigned seed = 1;
    for (const std::int64_t tokens : {1, 2, 3, 5, 8, 17, 70}) {
      for (const std::int64_t blocks : {1, 3})
        check_against_reference(candidate, make_problem(type, tokens, blocks, seed++));
    }
    for (const std::int64_t height : {1, 15, 16, 17, 130})
      check_against_reference(candidate, make_problem(type, 4, 2, seed++, height));
    constexpr std::int64_t high = 2120;  // so that a chunk has more groups than any that unpacks them
    check_against_reference(candidate, make_problem(type, 2, 1, seed++, high));
  });
}

TEST_CASE("products of inputs that are zero, tiny, huge or uneven equal the reference's") {
  for_each_type([](const Candidate& candidate, Type type) {
    for (const float scale : {0.0f, 1e-41f, 1e-37f, 1e-20f, 1e20f}) {
      Problem p = make_problem(type, 3, 2, 50);
      for (float& x : p.x) x *= scale;
      check_against_reference(candidate, p);
    }
    Problem uneven = make_problem(type, 3, 2, 51);
    for (std::size_t i = 0; i < uneven.x.size(); i += 7) uneven.x[i] *= 1e6f;
    check_against_reference(candidate, uneven);
    Problem extreme = make_problem(type, 3, 2, 52);
    Random random(52);
    extreme.weight = random_weight(type, extreme.width * extreme.height, random, 60000.0f);
    check_against_reference(candidate, extreme);
    extreme.weight = random_weight(type, extreme.width * extreme.height, random, 1e-7f);
    check_against_reference(candidate, extreme);
  });
}

// One value of 127 in a block has the scale 1 and the code 127, so each weight is seen alone.
TEST_CASE("a product with a single input value is that weight, rounded once or twice") {
  for_each_type([](const Candidate& candidate, Type type) {
    Problem p = make_problem(type, 60, 2, 60);
    const Floats w = weights_as_met(candidate, p);
    std::fill(p.x.begin(), p.x.end(), 0.0f);
    for (std::int64_t t = 0; t < p.tokens; ++t) p.x[std::size_t(t * p.width + t * 11 % p.width)] = 127;
    Floats want;
    for (std::int64_t i = 0; i < p.tokens * p.height; ++i) {
      want.push_back(127 * w[std::size_t(i % p.height * p.width + i / p.height * 11 % p.width)]);
    }
    // A weight with a minimum is the difference of two terms, neither larger than twice the largest weight.
    float largest = 0;
    for (const float x : w) largest = std::max(largest, std::abs(x));
    Device device(candidate);
    check_within(multiply(device, p), want,
                 [&](std::size_t i) { return 8 * epsilon * std::max(std::abs(want[i]), 127 * largest); });
  });
}

// With scales of 1 everything is an integer that float holds, so the sums must come out exactly.
TEST_CASE("integer sums are exact") {
  for (const Candidate& candidate : candidates()) {
    for (const Type type : {Type::Q4_0, Type::Q5_0, Type::Q8_0, Type::IQ4_NL, Type::F16, Type::F32}) {
      INFO(candidate.isa << ", " << inlay::gguf::type_info(type).name);
      Problem p = make_problem(type, 9, 8, 70);
      Random random(71);
      for (float& x : p.x) x = std::floor(random.uniform(-127, 128));
      for (std::size_t i = 0; i < p.x.size(); i += 32) p.x[i] = 127;
      if (is_float(type)) {
        const auto bytes = inlay::gguf::type_info(type).block_bytes;
        for (std::size_t i = 0; i < p.weight.size(); i += bytes)
          fill_number(type, &p.weight[i], std::floor(random.uniform(-99, 99)));
      } else {
        for (std::size_t i = 0; i < p.weight.size(); i += inlay::gguf::type_info(type).block_bytes)
          put_half(&p.weight[i], 1.0f);
      }
      Device device(candidate), reference(oracle);
      check_equal(multiply(device, p), multiply(reference, p));
    }
  }
}

TEST_CASE("flipping one weight's lowest bit is noticed") {
  for_each_type([](const Candidate& candidate, Type type) {
    Problem p = make_problem(type, 1, 2, 80);
    Random random(81);
    for (float& x : p.x) x = random.uniform(0.5f, 1.0f);
    if (is_float(type)) std::fill(p.x.begin() + 1, p.x.end(), 0.0f);  // the last place shows where nothing is added
    if (is_float(type)) p.x[0] = 1;
    Device device(candidate), reference(oracle);
    const Floats before = multiply(reference, as_met(candidate, p)), sums = magnitudes(p);
    const Floats values = weights_as_met(candidate, p);
    const auto& form =
        *std::find_if(std::begin(block_forms), std::end(block_forms), [&](auto& f) { return f.type == type; });
    std::byte& code = p.weight[std::size_t(form.code)];
    const std::byte original = code;
    // A few codes mean the same: the lowest bit that stands for anything.
    for (int bit = 1; weights_as_met(candidate, p) == values; bit *= 2) code = original ^ std::byte(bit);
    const double bound = is_float(type) ? 0 : bound_factor(p) * sums[0];
    CHECK(std::abs(double{multiply(device, p)[0]} - before[0]) > bound);
  });
}

TEST_CASE("a token's product is the same alone, in any batch and with any number of threads, bit for bit") {
  for_each_type([](const Candidate& candidate, Type type) {
    const Problem whole = make_problem(type, 70, 3, 90);
    Device device(candidate);
    const Floats want = multiply(device, whole);
    for (const std::int64_t tokens : {1, 2, 3, 4, 7, 33}) {
      Problem part = whole;
      part.tokens = tokens;
      part.x.resize(std::size_t(tokens * whole.width));
      check_equal(multiply(device, part), Floats(want.begin(), want.begin() + tokens * whole.height));
    }
    Device team(candidate, 2), serial(candidate, 3, true);
    check_equal(multiply(team, whole), want);
    check_equal(multiply(serial, whole), want);
  });
}

TEST_CASE("weights as the file has them give what packed ones give, bit for bit") {
  for_each_type([](const Candidate& candidate, Type type) {
    unsigned seed = 100;
    Device device(candidate), team(candidate, 2);
    for (const auto& [tokens, blocks] : {std::pair{1, 3}, {3, 3}, {9, 3}, {70, 3}, {1, 31}, {2, 31}, {9, 31}}) {
      const Problem p = make_problem(type, tokens, blocks, seed++);  // of 31 blocks: more than one piece
      const Floats want = multiply(device, p);
      check_equal(multiply(device, p, false), want);
      check_equal(multiply(team, p, false), want);
    }
  });
}

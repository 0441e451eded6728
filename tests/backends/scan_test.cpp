// Proves that recurrent mixers of every backend equal the reference's, and that chunks leave the state of the whole.
#include "tests/backends/states.hpp"

using namespace backends;

namespace {

struct Input {
  Shape shape;
  float low = -1, high = 1;  // values of tokens, or of a constant where the first dimension is not that of tokens
};

// in.shape[0] == tokens stands for "one for each token".
constexpr std::int64_t tokens = 0;

struct Scan {
  std::uint32_t kind;
  Input x;
  std::vector<Input> in;
  Shape y;
  std::int64_t state;  // floats
  int heads = 1, groups = 1;
  std::uint32_t act = INLAY_ACT_NONE;
  float eps = 0;
};

const Scan scans[] = {
    {INLAY_SCAN_CONV, {{tokens, 37}}, {{{37, 4}}, {{37}}}, {tokens, 37}, 3 * 37, 1, 1, INLAY_ACT_SILU},
    {INLAY_SCAN_CONV, {{tokens, 64}}, {{{64, 3}}}, {tokens, 64}, 2 * 64},
    {INLAY_SCAN_SELECTIVE,
     {{tokens, 24}},
     {{{tokens, 24}}, {{24, 16}, -2, 0}, {{tokens, 16}}, {{tokens, 16}}, {{24}}, {{24}}},
     {tokens, 24},
     24 * 16,
     24},
    {INLAY_SCAN_SELECTIVE,
     {{tokens, 48}},
     {{{tokens, 6}}, {{6, 1}, -2, 0}, {{tokens, 32}}, {{tokens, 32}}, {{6, 1}}, {{6}}},
     {tokens, 48},
     48 * 16,
     6,
     2},
    {INLAY_SCAN_GATED_DELTA,
     {{tokens, 4, 24}},
     {{{tokens, 4, 16}}, {{tokens, 4, 16}}, {{tokens, 4, 1}}, {{tokens, 4, 1}}, {{4}, -2, 0}, {{4}}},
     {tokens, 4, 24},
     4 * 16 * 24,
     4,
     1,
     INLAY_ACT_NONE,
     1e-6f},
    {INLAY_SCAN_GATED_DELTA,
     {{tokens, 3, 16}},
     {{{tokens, 3, 16}, -0.2f, 0.2f},
      {{tokens, 3, 16}, -0.2f, 0.2f},
      {{tokens, 3, 16}},
      {{tokens, 3, 1}},
      {{3}, -2, 0},
      {{48}}},
     {tokens, 3, 16},
     3 * 16 * 16,
     3},
    {INLAY_SCAN_GATED_DELTA,  // keeps exp(gate)
     {{tokens, 3, 16}},
     {{{tokens, 3, 16}, -0.2f, 0.2f}, {{tokens, 3, 16}, -0.2f, 0.2f}, {{tokens, 3, 16}, -2, 0}, {{tokens, 3, 1}}},
     {tokens, 3, 16},
     3 * 16 * 16,
     3},
    {INLAY_SCAN_RWKV6,
     {{tokens, 3, 16}},
     {{{tokens, 3, 16}}, {{tokens, 3, 16}}, {{tokens, 3, 16}, -3, 1}, {{3, 16}}},
     {tokens, 3, 16},
     3 * 16 * 16,
     3},
    {INLAY_SCAN_RETENTION,
     {{tokens, 3, 24}},
     {{{tokens, 3, 16}}, {{tokens, 3, 16}}, {{tokens, 3, 16}, -3, 1}},
     {tokens, 3, 24},
     3 * 16 * 24,
     3},
    {INLAY_SCAN_RETENTION,
     {{tokens, 3, 16}},
     {{{tokens, 3, 16}}, {{tokens, 3, 16}}, {{3, 1}, -3, 1}},
     {tokens, 3, 16},
     3 * 16 * 16,
     3},
    {INLAY_SCAN_RWKV7,
     {{tokens, 3, 16}},
     {{{tokens, 3, 16}},
      {{tokens, 3, 16}},
      {{tokens, 3, 16}, -3, 3},
      {{tokens, 3, 16}, -0.2f, 0.2f},
      {{tokens, 3, 16}, 0, 1}},
     {tokens, 3, 16},
     3 * 16 * 16,
     3},
    {INLAY_SCAN_SHIFT, {{tokens, 37}}, {}, {tokens, 37}, 37},
    {INLAY_SCAN_SHIFT, {{tokens, 37}}, {{{5, 37}}}, {tokens, 5, 37}, 37},
};

std::vector<Candidate> with_oracle() {
  std::vector<Candidate> all = candidates();
  all.push_back(oracle);
  return all;
}

std::size_t count_of(const Shape& shape, std::int64_t length) {
  std::size_t count = 1;
  for (const std::int64_t n : shape) count *= std::size_t(n == tokens ? length : n);
  return count;
}

// Tokens [first, end) of what was drawn for `length` tokens.
inlay_tensor part_of(Device& device, const Input& input, unsigned seed, std::int64_t length, std::int64_t first,
                     std::int64_t end) {
  Random random(seed);
  Floats values(count_of(input.shape, length));
  for (float& value : values) value = random.uniform(input.low, input.high);
  Shape shape = input.shape;
  if (shape[0] == tokens) {
    const auto each = std::ptrdiff_t(values.size()) / length;
    values = Floats(values.begin() + first * each, values.begin() + end * each);
    shape[0] = end - first;
  }
  return device.numbers(shape, values);
}

struct Result {
  Floats y, state;
};

// Tokens of one sequence, or of two side by side, in steps of so many of the first and of the second.
Result run(Device& device, const Scan& scan, std::int64_t length, const std::vector<std::pair<int, int>>& steps) {
  Result result;
  const States states(device, scan.state);
  std::int64_t first = 0;
  for (const auto& [one, two] : steps) {
    Batch batch(two ? std::vector<int>{one, two} : std::vector<int>{one});
    const std::int64_t end = first + one + two;
    const auto x = part_of(device, scan.x, 99, length, first, end);
    std::vector<inlay_tensor> in;
    std::vector<const inlay_tensor*> pointers;
    for (unsigned i = 0; i < scan.in.size(); ++i) in.push_back(part_of(device, scan.in[i], i, length, first, end));
    for (const auto& tensor : in) pointers.push_back(&tensor);
    Shape shape = scan.y;
    shape[0] = end - first;
    const auto y = device.empty(shape);
    device.run(batch, inlay_scan_op{.size = sizeof(inlay_scan_op),
                                    .kind = scan.kind,
                                    .y = &y,
                                    .x = &x,
                                    .in = pointers.data(),
                                    .n = int(in.size()),
                                    .heads = scan.heads,
                                    .groups = scan.groups,
                                    .cache = &states.cache,
                                    .act = scan.act,
                                    .eps = scan.eps,
                                    .state_offset = state_offset});
    const Floats values = device.read(y);
    result.y.insert(result.y.end(), values.begin(), values.end());
    first = end;
  }
  result.state = states.read();
  return result;
}

}  // namespace

// Values stay near 1 and the state forgets, so errors of a few roundings a token stay a few times epsilon of the
// largest value; 64 of them leave room for sums over 24 keys and for exponentials of exponentials.
TEST_CASE("recurrent mixers equal the reference's") {
  for (const Candidate& candidate : candidates()) {
    for (const Scan& scan : scans) {
      INFO(candidate.isa << ", kind " << scan.kind);
      Device device(candidate), reference(oracle), serial(candidate, 3, true);
      const Result got = run(device, scan, 30, {{19, 11}}), want = run(reference, scan, 30, {{19, 11}});
      float largest = 1;
      for (const float value : want.state) largest = std::max(largest, std::abs(value));
      for (const float value : want.y) largest = std::max(largest, std::abs(value));
      check_within(got.y, want.y, [&](std::size_t) { return 64 * epsilon * largest; });
      check_within(got.state, want.state, [&](std::size_t) { return 64 * epsilon * largest; });
      check_equal(run(serial, scan, 30, {{19, 11}}).y, got.y);
    }
  }
}

TEST_CASE("a sequence in chunks leaves the bits of the whole") {
  for (const Candidate& candidate : with_oracle()) {
    for (const Scan& scan : scans) {
      INFO(candidate.isa << ", kind " << scan.kind);
      Device device(candidate);
      const Result whole = run(device, scan, 20, {{20, 0}});
      for (const auto& steps : std::vector<std::vector<std::pair<int, int>>>{
               {{1, 0}, {19, 0}}, {{7, 0}, {2, 0}, {11, 0}}, std::vector<std::pair<int, int>>(20, {1, 0})}) {
        const Result parts = run(device, scan, 20, steps);
        check_equal(parts.y, whole.y);
        check_equal(parts.state, whole.state);
      }
    }
  }
}

// One key head for two value heads, by views that repeat: neighbours share, or heads take turns.
TEST_CASE("repeated heads give what copies of them give") {
  for (const Candidate& candidate : with_oracle()) {
    for (const bool neighbours : {true, false}) {
      INFO(candidate.isa);
      Device device(candidate);
      Random random(31);
      const Floats keys = random.floats(6 * 2 * 16), values = random.floats(6 * 4 * 16), gates = random.floats(6 * 4);
      Floats copies;
      for (int t = 0; t < 6; ++t) {
        for (int h = 0; h < 4; ++h) {
          const auto* key = keys.data() + (t * 2 + (neighbours ? h / 2 : h % 2)) * 16;
          copies.insert(copies.end(), key, key + 16);
        }
      }
      auto view = device.numbers({6, 2, 16}, keys);
      view.rank = 4;
      view.shape[1] = view.shape[2] = 2;
      view.shape[3] = 16;
      view.stride[neighbours ? 2 : 1] = 0;
      view.stride[neighbours ? 1 : 2] = 64;
      const auto copied = device.numbers({6, 4, 16}, copies), v = device.numbers({6, 4, 16}, values);
      const auto gate = device.numbers({6, 4, 1}, gates), rate = device.numbers({4}, {-1, -0.5f, -0.2f, -2});
      Floats results[2];
      for (const inlay_tensor* k : {static_cast<const inlay_tensor*>(&view), &copied}) {
        Batch batch({6});
        const States states(device, 1024);
        const auto y = device.empty({6, 4, 16});
        const inlay_tensor* in[] = {k, k, &gate, &gate, &rate};
        device.run(batch, inlay_scan_op{.size = sizeof(inlay_scan_op),
                                        .kind = INLAY_SCAN_GATED_DELTA,
                                        .y = &y,
                                        .x = &v,
                                        .in = in,
                                        .n = 5,
                                        .heads = 4,
                                        .groups = 2,
                                        .cache = &states.cache,
                                        .eps = 1e-6f,
                                        .state_offset = state_offset});
        results[k == &copied] = device.read(y);
      }
      check_equal(results[0], results[1]);
    }
  }
}

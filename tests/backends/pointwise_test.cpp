// Proves that norms, activations, rotations, sums, picks and table rows of every backend are the reference's.
#include "tests/backends/weights.hpp"

using namespace backends;

namespace {

using Case = std::function<Floats(Device&)>;
using Bound = std::function<double(std::size_t)>;

// Runs the case on the reference and on everything under test; the bound may look at what the reference gave.
void agree(const Case& run, const std::function<double(std::size_t, float)>& bound) {
  Device reference(oracle);
  const Floats want = run(reference);
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    Device device(candidate), serial(candidate, 3, true);
    const Floats got = run(device);
    check_within(got, want, [&](std::size_t i) { return bound(i, want[i]); });
    check_equal(run(serial), got);
  }
}

}  // namespace

TEST_CASE("rows of a table of any type are dequantized exactly") {
  for (const BlockForm& form : block_forms) {
    INFO(inlay::gguf::type_info(form.type).name);
    Random random(unsigned(form.type));
    const Bytes bytes = random_weight(form.type, 9 * 256, random);
    const Floats values = values_of(form.type, bytes, 9 * 256);
    const std::vector<int> rows[] = {{8, 0, 3, 3, 7}, {4, 5, 6, 7, 8}, {0, 0, 1, 1, 1}, {0, 0, 0, 0, 0}};
    for (std::size_t by = 0; by < std::size(rows); ++by) {  // the last: types that no batch has
      Floats want;
      for (const int row : rows[by]) {
        want.insert(want.end(), values.begin() + row * 256, values.begin() + (row + 1) * 256);
      }
      for (const Candidate& candidate : candidates()) {
        INFO(candidate.isa);
        Device device(candidate);
        Batch batch({5}, {9});
        batch.ids = rows[INLAY_EMBED_ID];
        if (by == INLAY_EMBED_TYPE) batch.types = rows[by];
        const auto y = device.empty({5, 256});
        const auto table = device.weight({9, 256}, std::uint32_t(form.type), bytes, INLAY_ROLE_TABLE);
        device.run(batch, inlay_embed_op{.size = sizeof(inlay_embed_op),
                                         .by = std::uint32_t(std::min<std::size_t>(by, INLAY_EMBED_TYPE)),
                                         .y = &y,
                                         .table = &table});
        check_equal(device.read(y), want);
      }
    }
  }
}

// The sums are exact enough in double. What is left is rounding: of the mean, the factor, the product, the gain and the
// bias, each at most half epsilon of a value no larger than the largest input (of 3 and 1000, shifted by its mean).
TEST_CASE("norms of two and three dimensions equal the reference's") {
  for (const std::uint32_t kind : {INLAY_NORM_RMS, INLAY_NORM_LAYER, INLAY_NORM_L2}) {
    for (const std::int64_t columns : {1, 7, 64, 250}) {
      for (const bool weighted : {false, true}) {
        for (const float size : {0.0f, 1e-20f, 3.0f, 1000.0f}) {
          Random random(unsigned(columns) + kind);
          const Floats x = random.floats(std::size_t(6 * columns), size),
                       gain = random.floats(std::size_t(2 * columns)), bias = random.floats(std::size_t(2 * columns));
          agree(
              [&](Device& device) {
                Batch batch({3});
                const auto input = device.numbers({3, 2, columns}, x), y = device.empty({3, 2, columns});
                const auto g = device.numbers({2, columns}, gain), b = device.numbers({2, columns}, bias);
                device.run(batch, inlay_norm_op{.size = sizeof(inlay_norm_op),
                                                .kind = kind,
                                                .y = &y,
                                                .x = &input,
                                                .gain = weighted ? &g : nullptr,
                                                .bias = weighted ? &b : nullptr,
                                                .eps = 1e-5f});
                return device.read(y);
              },
              [&](std::size_t, float y) { return 4 * epsilon * (std::abs(y) + 2); });
        }
      }
    }
  }
}

TEST_CASE("what norms divide by equals the reference's") {
  for (const std::uint32_t kind : {INLAY_NORM_SIZE, INLAY_NORM_SPREAD}) {
    for (const std::int64_t columns : {1, 7, 64, 250}) {
      Random random(unsigned(columns) + kind);
      const Floats x = random.floats(std::size_t(5 * columns), 3);
      agree(
          [&](Device& device) {
            Batch batch({5});
            const auto input = device.numbers({5, columns}, x), y = device.empty({5, 1});
            device.run(batch,
                       inlay_norm_op{.size = sizeof(inlay_norm_op), .kind = kind, .y = &y, .x = &input, .eps = 1e-5f});
            return device.read(y);
          },
          [&](std::size_t, float y) { return epsilon * std::abs(y); });
    }
  }
}

TEST_CASE("activations equal the reference's, from tiny to huge") {
  Floats gate, up;
  Random random(5);
  for (int i = 0; i < 400; ++i) gate.push_back(random.uniform(-12, 12));
  for (const float value :
       {0.0f, -0.0f, 1e-40f, -1e-30f, 87.0f, -87.5f, -89.0f, 100.0f, -120.0f, 1e4f, -1e4f, 1e18f, -1e18f})
    gate.push_back(value);
  gate.resize(423, 0.5f);
  up = random.floats(gate.size(), 2);
  for (std::uint32_t act = INLAY_ACT_NONE; act <= INLAY_ACT_SWIGLU_BOUNDED; ++act) {
    for (const bool gated : {true, false}) {
      const bool always_gated = act == INLAY_ACT_SWIGLU_CLAMPED || act >= INLAY_ACT_SWIGLU_LIMITED;
      const bool never_gated = act == INLAY_ACT_CLAMP || act == INLAY_ACT_XIELU;
      if (gated ? never_gated : always_gated) continue;
      INFO("activation " << act);
      agree(
          [&](Device& device) {
            Batch batch({3});
            const auto g = device.numbers({3, 141}, gate), u = device.numbers({3, 141}, up), y = device.empty({3, 141});
            device.run(batch, inlay_glu_op{.size = sizeof(inlay_glu_op),
                                           .act = act,
                                           .y = &y,
                                           .gate = &g,
                                           .up = gated ? &u : nullptr,
                                           .alpha = 1.702f,
                                           .limit = 7,
                                           .beta = 0.5f});
            return device.read(y);
          },
          // Functions to 2 units in the last place, of a value that may be near 1 where the result is near 0
          // (1 + erf, 1 + tanh, and exp - 1, of which xielu takes 7), times the gate.
          [&](std::size_t i, float y) {
            const double near_one =
                act == INLAY_ACT_XIELU ? 7 : std::min(std::abs(gate[i]), 12.0f) * (std::abs(up[i]) + 1);
            return 4 * epsilon * (std::abs(y) + near_one) + tiny;
          });
    }
  }
}

TEST_CASE("rotations equal the reference's at every position, in both pairings and by sections") {
  for (const bool interleaved : {false, true}) {
    for (const int streams : {1, 3}) {
      Random random(9);
      const Floats x = random.floats(6 * 3 * 20);
      agree(
          [&](Device& device) {
            Batch batch({4, 2}, {4, 5000}, 4, streams);
            const auto head = device.numbers({6, 3, 20}, x);
            const auto frequencies = device.numbers({8}, {1, 0.7f, 0.3f, 0.1f, 0.03f, 0.01f, 0.001f, 0});
            device.run(batch, inlay_rope_op{.size = sizeof(inlay_rope_op),
                                            .interleaved = interleaved,
                                            .x = &head,
                                            .frequencies = &frequencies,
                                            .magnitude = 1.2f,
                                            .dims = 16,
                                            .sections = {streams > 1 ? 3 : 0, 2, 3, 0}});
            return device.read(head);
          },
          [](std::size_t, float) { return 4 * epsilon * 1.2 * 1.5; });  // a cos - b sin, of magnitude 1.2
    }
  }
}

TEST_CASE("sums and products equal the reference's bit for bit, also in place and with one row or column") {
  Random random(11);
  const Floats a = random.floats(5 * 33), b = random.floats(5 * 33);
  for (const std::uint32_t kind : {INLAY_BINARY_ADD, INLAY_BINARY_MUL}) {
    for (const Shape& shape : {Shape{5, 33}, Shape{5, 1}, Shape{1, 33}, Shape{}}) {
      for (const float alpha : {1.0f, -0.3f}) {
        agree(
            [&](Device& device) {
              Batch batch({5});
              const auto left = device.numbers({5, 33}, a);
              auto right = shape.empty() ? inlay_tensor{}
                                         : device.numbers(shape, Floats(b.begin(), b.begin() + shape[0] * shape[1]));
              device.run(batch, inlay_binary_op{.size = sizeof(inlay_binary_op),
                                                .kind = kind,
                                                .y = &left,
                                                .a = &left,
                                                .b = shape.empty() ? nullptr : &right,
                                                .alpha = alpha});
              return device.read(left);
            },
            [](std::size_t, float y) { return epsilon * (std::abs(y) + 0.3); });
      }
    }
  }
}

TEST_CASE("rows are picked, and sequences pooled") {
  Random random(13);
  const Floats x = random.floats(7 * 33);
  for (const std::uint32_t kind : {INLAY_PICK_ROWS, INLAY_PICK_MEAN, INLAY_PICK_FIRST, INLAY_PICK_LAST}) {
    agree(
        [&](Device& device) {
          Batch batch({4, 1, 2});
          const auto input = device.numbers({7, 33}, x), y = device.empty({3, 33});
          const auto rows = device.indices({3}, {6, 0, 2});
          device.run(batch, inlay_pick_op{.size = sizeof(inlay_pick_op),
                                          .kind = kind,
                                          .y = &y,
                                          .x = &input,
                                          .rows = kind == INLAY_PICK_ROWS ? &rows : nullptr});
          return device.read(y);
        },
        [&](std::size_t, float) { return kind == INLAY_PICK_MEAN ? 4 * epsilon : 0; });
  }
}

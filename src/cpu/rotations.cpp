// The angles of rotary positions, once for each step and set of frequencies.
#include "cpu/rotations.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/plan.hpp"

namespace inlay::cpu {
namespace {

// Every layer has its own list of frequencies, mostly the same.
bool turn_alike(const inlay_rope_op& a, const inlay_rope_op& b) noexcept {
  const auto* of_a = static_cast<const float*>(a.frequencies->data);
  const auto* of_b = static_cast<const float*>(b.frequencies->data);
  return a.dims == b.dims && a.magnitude == b.magnitude && std::equal(a.sections, a.sections + 4, b.sections) &&
         (of_a == of_b || std::equal(of_a, of_a + a.dims / 2, of_b));
}

// The position stream of pair j: without sections the first, else the one whose section holds j.
int stream_of(const inlay_rope_op& op, int streams, int j) noexcept {
  int stream = 0;
  for (int end = op.sections[0]; stream + 1 < std::min(streams, 4) && end > 0 && j >= end; end += op.sections[stream])
    ++stream;
  return stream;
}

void compute(const inlay_batch& batch, const inlay_rope_op& op, Turn* turns) noexcept {
  const auto* frequencies = static_cast<const float*>(op.frequencies->data);
  const int pairs = op.dims / 2;
  for (int j = 0; j < pairs; ++j) {
    const std::int32_t* positions = batch.positions + std::int64_t{stream_of(op, batch.streams, j)} * batch.tokens;
    for (int t = 0; t < batch.tokens; ++t) {
      const double angle = static_cast<double>(positions[t]) * frequencies[j];
      turns[std::int64_t{t} * pairs + j] = {static_cast<float>(std::cos(angle) * op.magnitude),
                                            static_cast<float>(std::sin(angle) * op.magnitude)};
    }
  }
}

}  // namespace

const Turn* rotations(Plan& plan, const inlay_rope_op& op) {
  if (!op.frequencies->data || !plan.batch().positions) return nullptr;
  for (const Plan::Rotations& known : plan.rotations) {
    if (turn_alike(*known.op, op)) return static_cast<const Turn*>(known.turns);
  }
  auto* turns = plan.kept<Turn>(static_cast<std::size_t>(plan.batch().tokens) * static_cast<std::size_t>(op.dims / 2));
  compute(plan.batch(), op, turns);
  plan.rotations.push_back({&op, turns});
  return turns;
}

}  // namespace inlay::cpu

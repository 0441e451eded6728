// Taking tokens out of the middle of a sequence: what follows moves to earlier positions, so its keys are rotated back.
// Approximate all the same: what is kept was read with the dropped tokens in view.
#include <cmath>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/rows.hpp"
#include "runtime/stay.hpp"

namespace inlay::runtime {

namespace {

// Turns the rotated pairs of one key by an angle each. Only the angle: magnitudes were applied when it was stored.
void rotate(float* key, const Rotation& by, std::span<const std::pair<float, float>> turns) {
  const auto half = turns.size();
  for (std::size_t j = 0; j < half; ++j) {
    float& a = key[by.interleaved ? 2 * j : j];
    float& b = key[by.interleaved ? 2 * j + 1 : j + half];
    const auto [cosine, sine] = turns[j];
    const float x = a * cosine - b * sine, y = a * sine + b * cosine;
    a = x, b = y;
  }
}

std::vector<std::pair<float, float>> turns_of(const Rotation& rotation, double positions) {
  std::vector<std::pair<float, float>> turns;
  for (const float frequency : rotation.frequencies) {
    const double angle = positions * double(frequency);
    turns.emplace_back(float(std::cos(angle)), float(std::sin(angle)));
  }
  return turns;
}

}  // namespace

// Reads the joined list of a step for what turns the keys of each layer. Whatever else depends on positions (learned
// ones, states, latent rows, chunks, chosen keys) forbids shifts.
void Engine::find_rotations() {
  rotations_.reserve(caches_->keys_values().size());
  while (rotations_.size() < caches_->keys_values().size())
    rotations_.push_back({.frequencies = std::pmr::vector<float>(memory())});
  shifts_ = caches_->has_pages() && !caches_->has_states();
  std::vector<const inlay_rope_op*> apart;  // rotations that were not joined into the attention behind them
  for (const auto& record : step_->pass->list) {
    if (record.op == INLAY_OP_ROPE) apart.push_back(&record.rope);
    if (record.op == INLAY_OP_EMBED && record.embed.by == INLAY_EMBED_POSITION) shifts_ = false;
    if (record.op == INLAY_OP_CHOOSE) shifts_ = false;
    if (record.op != INLAY_OP_ATTENTION) continue;
    const auto& attention = record.attention;
    if (!attention.cache || attention.cache->kind != INLAY_CACHE_KV || attention.mask == INLAY_MASK_CHUNKED)
      shifts_ = false;
    if (!shifts_ || !attention.k) continue;
    const auto* rope = record.rope_k.size ? &record.rope_k : nullptr;
    for (const auto* other : std::exchange(apart, {})) {
      if (other->x->data == attention.k->data)
        rope = other;
      else if (other->x->data != attention.q->data)
        shifts_ = false;
    }
    if (rope) rotations_[std::size_t(attention.cache - caches_->keys_values().data())] = rotation_of(*rope);
  }
  shifts_ = shifts_ && apart.empty();
}

Rotation Engine::rotation_of(const inlay_rope_op& rope) const {
  Rotation rotation{.interleaved = rope.interleaved != 0,
                    .frequencies = std::pmr::vector<float>(std::size_t(rope.dims) / 2, memory())};
  device_->table().download(device_->handle(), rotation.frequencies.data(), rope.frequencies->data,
                            rotation.frequencies.size() * sizeof(float));
  return rotation;
}

void Engine::drop(Sequence& sequence, std::size_t first, std::size_t count) {
  if (!shifts_)
    throw Error(Errc::unsupported,
                "this model's cache cannot be shifted: it depends on positions by more than rotations",
                Fault::unsupported, "drop");
  wake(sequence);
  auto shifted = Sequence().in(memory());
  shifted.tokens = sequence.tokens;
  const auto begin = shifted.tokens.begin() + std::ptrdiff_t(first);
  shifted.tokens.erase(begin, begin + std::ptrdiff_t(count));
  shifted.salt = sequence.salt, shifted.source = sequence.source;
  shifted.cached =
      sequence.cached > first ? std::max(first, sequence.cached - std::min(sequence.cached, count)) : sequence.cached;
  shifted.shareable = false;
  try {
    take_memory(shifted);
    Stay stay(*this);
    stay.add_locked(sequence), stay.add_locked(shifted);
    move_rows(sequence, shifted, first, count);
  } catch (...) {
    release(shifted);
    throw;
  }
  std::swap(sequence, shifted);
  release(shifted);
}

void Engine::move_rows(const Sequence& from, const Sequence& to, std::size_t first, std::size_t count) const {
  const auto& table = device_->table();
  const auto* caches = caches_->keys_values().data();
  std::vector<float> k, v;
  Slots old_slots;
  each_run(caches_->keys_values(), own_tokens(to),
           [&](const inlay_cache& cache, std::size_t begin, const Slots& slots) {
             const auto heads = std::size_t(cache.heads), k_dim = std::size_t(cache.k_dim);
             old_slots.clear();
             for (auto t = begin; t < begin + slots.size(); ++t)
               old_slots.push_back(slot_of(from.pages, cache, t < first ? t : t + count));
             k.resize(slots.size() * heads * k_dim), v.resize(slots.size() * heads * std::size_t(cache.v_dim));
             table.read_rows(device_->handle(), &cache, old_slots.data(), int(slots.size()), k.data(), v.data());
             const auto& rotation = rotations_[std::size_t(&cache - caches)];
             const auto turns = turns_of(rotation, -double(count));
             for (auto row = first > begin ? (first - begin) * heads : 0; row < slots.size() * heads; ++row)
               rotate(k.data() + row * k_dim, rotation, turns);
             table.write_rows(device_->handle(), &cache, slots.data(), int(slots.size()), k.data(), v.data());
           });
}

}  // namespace inlay::runtime

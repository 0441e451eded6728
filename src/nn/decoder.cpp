// The numbers of a decoder, checked against each other, and what a few architectures derive from them.
#include "inlay/nn/decoder.hpp"

#include <algorithm>
#include <cmath>

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr int most_layers = 1024, widest = 1 << 24;

int positive(const Metadata& m, std::string_view key, int value, int most) {
  if (value < 1) m.refuse(key, "is " + std::to_string(value) + ", but must be at least 1");
  if (value > most) m.refuse(key, "is " + std::to_string(value) + ", above the limit of " + std::to_string(most));
  return value;
}

float epsilon(const Metadata& m, Eps which) {
  constexpr const char *layer = "attention.layer_norm_epsilon", *rms = "attention.layer_norm_rms_epsilon";
  const char *own = which == Eps::layer ? layer : rms, *other = which == Eps::layer ? rms : layer;
  const char* key = m.has(own) || !m.has(other) ? own : other;
  const float eps = m.real(key);
  if (!(eps >= 0 && eps < 1)) m.refuse(key, "must be in [0, 1)");
  return eps;
}

// Files with recurrent mixers, and those with a number for each layer, write 0 for what a layer does not have.
bool recurrent(const Metadata& m) {
  return m.has("ssm.conv_kernel") || m.has("shortconv.l_cache") || m.has("wkv.head_size");
}

int counted(const Metadata& m, std::string_view key, int value, int most) {
  return value == 0 && (recurrent(m) || m.size(key) > 1) ? 0 : positive(m, key, value, most);
}

void check_heads(const Metadata& m, const Shape& s) {
  if (s.kv_heads == 0 || s.heads == 0) return;
  if (s.heads % s.kv_heads)
    throw Error(Errc::format,
                std::to_string(s.heads) + " query heads do not divide by " + std::to_string(s.kv_heads) +
                    " key/value heads (attention.head_count_kv)",
                Fault::inconsistent, "attention.head_count_kv");
  if (!m.has("attention.key_length") && s.dim % s.heads)
    throw Error(Errc::format,
                "the width " + std::to_string(s.dim) + " does not divide by " + std::to_string(s.heads) +
                    " heads (attention.head_count)",
                Fault::inconsistent, "attention.head_count");
}

// Layers that are all recurrent or all experts may have no other width.
int hidden_of(const Metadata& m) {
  constexpr const char* key = "feed_forward_length";
  if (!m.has(key) && (recurrent(m) || m.has("expert_count"))) return 0;
  return counted(m, key, m.size(key) > 1 ? m.integer(key, 0, 0) : m.integer(key), widest);
}

int blocks(const Metadata& m) { return positive(m, "block_count", m.integer("block_count"), most_layers); }

// The last blocks of some files predict tokens after the next one, and have no part in predicting that.
int layers_of(const Metadata& m) {
  const int others = m.integer("nextn_predict_layers", 0), all = blocks(m);
  if (others < 0 || others >= all) m.refuse("nextn_predict_layers", "does not fit the blocks");
  return all - others;
}

// An array of one entry a block, where there is an array at all.
void check_arrays(const Metadata& m, int layers) {
  for (const char* key : {"attention.head_count", "attention.head_count_kv", "feed_forward_length"})
    if (const auto size = m.size(key); size > 1 && size != std::size_t(layers))
      throw Error(Errc::format,
                  "the array " + std::string(key) + " has " + std::to_string(size) + " entries for " +
                      std::to_string(layers) + " layers",
                  Fault::inconsistent, key);
}

}  // namespace

Shape::Shape(const Metadata& m, Eps which)
    : layers(layers_of(m)),
      dim(positive(m, "embedding_length", m.integer("embedding_length"), widest)),
      heads(counted(m, "attention.head_count", m.integer("attention.head_count"), 1 << 16)),
      kv_heads(counted(m, "attention.head_count_kv", m.integer("attention.head_count_kv", 0, heads), 1 << 16)),
      head_dim(positive(m, "attention.key_length",
                        m.integer("attention.key_length", std::max(1, dim / std::max(1, heads))), 1 << 14)),
      value_dim(positive(m, "attention.value_length", m.integer("attention.value_length", head_dim), 1 << 14)),
      hidden(hidden_of(m)),
      vocabulary(m.vocabulary),
      rope_dims(m.integer("rope.dimension_count", head_dim)),
      eps(epsilon(m, which)),
      rope_base(m.real("rope.freq_base", 10000.f)),
      clamp(m.real("attention.clamp_kqv", 0)) {
  check_arrays(m, blocks(m));
  check_heads(m, *this);
  if (!(rope_base > 0)) m.refuse("rope.freq_base", "must be above 0");
}

bool windowed(const Metadata& m, int layer, int period, bool dense_first) {
  if (const auto size = m.size("attention.sliding_window_pattern"); size > 1)
    return m.flag("attention.sliding_window_pattern", layer, false);
  period = m.integer("attention.sliding_window_pattern", period);
  if (period < 1) m.refuse("attention.sliding_window_pattern", "must be at least 1");
  return dense_first ? layer % period != 0 : layer % period < period - 1;
}

Tensor temperatures(const Weights& w, const Metadata& m, std::string_view length_key) {
  const float beta = m.real("attention.temperature_scale", 0);
  if (beta == 0) return {};
  const int original = m.integer("rope.scaling.original_context_length", m.trained);
  const float length = float(m.integer(length_key, original));
  if (!(length >= 1)) m.refuse(length_key, "must be at least 1");
  return position_scale(w, m, [=](int p) { return 1 + beta * std::log(1 + std::floor(float(p) / length)); });
}

std::vector<float> alibi_slopes(int heads, float most) {
  int whole = 1;
  while (whole * 2 <= heads) whole *= 2;
  std::vector<float> slopes;
  slopes.reserve(std::size_t(heads));
  for (int h = 0; h < heads; ++h)
    slopes.push_back(float(h < whole ? std::pow(2.0, -double(most) * (h + 1) / whole)
                                     : std::pow(2.0, -double(most) / 2 * (2 * (h - whole) + 1) / whole)));
  return slopes;
}

Shape Shape::at(const Metadata& m, int layer) const {
  Shape s = *this;
  s.heads = counted(m, "attention.head_count", m.integer("attention.head_count", layer, heads), 1 << 16);
  s.kv_heads = counted(m, "attention.head_count_kv", m.integer("attention.head_count_kv", layer, s.heads), 1 << 16);
  if (m.has("feed_forward_length"))
    s.hidden = counted(m, "feed_forward_length", m.integer("feed_forward_length", layer, hidden), widest);
  check_heads(m, s);
  return s;
}

float scale_or(const Metadata& m, std::string_view key, float otherwise) {
  const float scale = m.real(key, 0);
  return scale != 0 ? scale : otherwise;
}

Tensor learned_positions(const Metadata& m, const Weights& w, std::int64_t dim) {
  const auto shape = w.shape("position_embd.weight");
  const std::int64_t rows = shape.empty() ? m.trained : shape[0];
  if (m.context > rows)
    throw Error(Errc::argument,
                "the context of " + std::to_string(m.context) + " tokens is longer than the model's " +
                    std::to_string(rows) + " positions",
                Fault::limit, "context");
  return w.table("position_embd.weight", {rows, dim});
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay

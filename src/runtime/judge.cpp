// Reading a classifier's head, and applying it to one row.
#include "runtime/judge.hpp"

#include <cmath>
#include <numbers>

namespace inlay::runtime {

namespace {

const float* numbers(const nn::Tensor& t) { return static_cast<const float*>(t.view.data); }

void normalize(std::span<double> x, const nn::Tensor& gain, double epsilon) {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / double(x.size());
  for (const double value : x) variance += (value - mean) * (value - mean) / double(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (x[i] - mean) / std::sqrt(variance + epsilon) * double(numbers(gain)[i]);
}

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }

}  // namespace

Judge::Dense Judge::Dense::read(const nn::Weights& w, const std::string& name, std::int64_t in) {
  const auto shape = w.shape(name + ".weight");
  if (shape.empty()) return {};
  const std::int64_t out = shape.size() > 1 ? shape[0] : 1;
  return {w(name + ".weight", {out, in}), w.maybe(name + ".bias", {out})};
}

std::vector<double> Judge::Dense::operator()(std::span<const double> x) const {
  const auto out = std::size_t(weight.view.rank > 1 ? weight.rows() : 1);
  std::vector<double> y(out);
  for (std::size_t row = 0; row < out; ++row) {
    for (std::size_t i = 0; i < x.size(); ++i) y[row] += x[i] * double(numbers(weight)[row * x.size() + i]);
    if (bias) y[row] += double(numbers(bias)[row]);
  }
  return y;
}

std::optional<Judge> Judge::read(const nn::Metadata& m, const nn::Weights& w) {
  Judge judge;
  const std::int64_t width = m.integer("embedding_length");
  judge.width_ = std::size_t(width);
  judge.dense_ = Dense::read(w, "cls", width);
  judge.gain_ = w.maybe("cls.norm.weight", {width});
  const std::int64_t inner = judge.dense_ && judge.dense_.weight.view.rank > 1 ? judge.dense_.weight.rows() : width;
  judge.output_ = Dense::read(w, "cls.output", inner);
  if (!judge.dense_ && !judge.output_) return std::nullopt;
  if (judge.gain_) judge.epsilon_ = m.real("attention.layer_norm_epsilon");
  // ModernBERT's files from before this key existed are of a model that takes the mean.
  constexpr int mean = 1, first = 2;
  const int pooling = m.integer("classifier.pooling_type", judge.gain_ ? mean : first);
  if (pooling != mean && pooling != first) m.refuse("classifier.pooling_type", "must be 1, the mean, or 2, the first");
  judge.mean_ = pooling == mean;
  return judge;
}

std::vector<double> Judge::pooled(std::span<const float> rows) const {
  std::vector<double> row(rows.begin(), rows.begin() + std::ptrdiff_t(width_));
  if (!mean_) return row;
  const auto tokens = rows.size() / width_;
  for (std::size_t i = 0; i < width_; ++i) {
    for (std::size_t token = 1; token < tokens; ++token) row[i] += double(rows[token * width_ + i]);
    row[i] /= double(tokens);
  }
  return row;
}

std::vector<float> Judge::operator()(std::span<const float> rows) const {
  auto x = pooled(rows);
  if (dense_) {
    x = dense_(x);
    for (double& value : x) value = gain_ ? gelu(value) : std::tanh(value);
    if (gain_) normalize(x, gain_, double(epsilon_));
  }
  if (output_) x = output_(x);
  return {x.begin(), x.end()};
}

}  // namespace inlay::runtime

// Views of a tensor: the same numbers seen with another shape.
#include "inlay/nn/tensor.hpp"

#include <algorithm>

#include "inlay/nn/architecture.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr std::int64_t float_bytes = 4;

Tensor moved(Tensor t, std::int64_t bytes) {
  t.view.data = static_cast<std::byte*>(t.view.data) + bytes;
  return t;
}

}  // namespace

Network::~Network() = default;
Metadata::Source::~Source() = default;
Weights::Source::~Source() = default;

Tensor Tensor::split(std::int64_t heads) const {
  Tensor t = *this;
  const auto width = view.shape[1] / heads;
  t.view.rank = 3;
  t.view.shape[1] = heads, t.view.shape[2] = width;
  t.view.stride[1] = width * float_bytes, t.view.stride[2] = float_bytes;
  return t;
}

Tensor Tensor::join() const {
  Tensor t = *this;
  t.view.rank = 2;
  t.view.shape[1] = view.shape[1] * view.shape[2], t.view.shape[2] = 1;
  t.view.stride[1] = float_bytes, t.view.stride[2] = 0;
  return t;
}

Tensor Tensor::columns(std::int64_t first, std::int64_t count) const {
  Tensor t = moved(*this, first * float_bytes);
  t.view.shape[view.rank - 1] = count;
  return t;
}

Tensor Tensor::heads(std::int64_t first, std::int64_t count) const {
  Tensor t = moved(*this, first * view.stride[1]);
  t.view.shape[1] = count;
  return t;
}

Tensor Tensor::slice(std::int64_t first, std::int64_t count) const {
  Tensor t = moved(*this, first * view.stride[0]);
  t.view.shape[0] = count;
  return t;
}

Tensor Tensor::view_as(std::initializer_list<std::int64_t> shape, std::initializer_list<std::int64_t> stride) const {
  Tensor t = *this;
  t.view.rank = std::uint32_t(shape.size());
  std::copy(shape.begin(), shape.end(), t.view.shape);
  std::transform(stride.begin(), stride.end(), t.view.stride, [](std::int64_t n) { return n * float_bytes; });
  return t;
}

Tensor& operator+=(Tensor& x, const Tensor& y) { return x = x.step->binary(INLAY_BINARY_ADD, x, y, 1, true); }
Tensor operator+(const Tensor& x, const Tensor& y) { return x.step->binary(INLAY_BINARY_ADD, x, y, 1); }
Tensor operator-(const Tensor& x, const Tensor& y) { return x.step->binary(INLAY_BINARY_ADD, x, y, -1); }
Tensor operator*(const Tensor& x, const Tensor& y) { return x.step->binary(INLAY_BINARY_MUL, x, y, 1); }
Tensor& operator*=(Tensor& x, float factor) { return x = x.step->binary(INLAY_BINARY_MUL, x, {}, factor, true); }

void Rope::operator()(const Tensor& x) const {
  if (dims) x.step->rope(x, *this);
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay

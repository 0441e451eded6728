// How the reference sees tensors: rows of any type as doubles, and matrices of doubles in the host's memory.
#pragma once

#include <cstdint>
#include <stdexcept>

#ifndef eigen_assert
#define eigen_assert(condition) /* NOLINT(readability-identifier-naming): the name is Eigen's */ \
  if (!(condition)) throw std::logic_error(#condition)
#endif
#include <Eigen/Core>

#include "cpu/memory.hpp"
#include "inlay/backend.h"

namespace inlay::cpu::reference {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Storage {
  HostVector<double> storage;
};

// [rows, columns], zero at first.
class Matrix : private Storage, public Eigen::Map<Rows> {
 public:
  Matrix(const inlay_host& host, std::int64_t rows, std::int64_t columns)
      : Storage{HostVector<double>(static_cast<std::size_t>(rows * columns), 0.0, HostAllocator<double>(host))},
        Eigen::Map<Rows>(storage.data(), rows, columns) {}
  Matrix(Matrix&&) = delete;
};

// What operations run with.
struct Step {
  const inlay_host& host;
  const inlay_batch& batch;
};

// A tensor of any rank is seen as rows of its last dimension.
inline std::int64_t columns(const inlay_tensor& tensor) noexcept { return tensor.shape[tensor.rank - 1]; }
std::int64_t rows(const inlay_tensor& tensor) noexcept;
void* row_address(const inlay_tensor& tensor, std::int64_t row) noexcept;
inline float* row_of(const inlay_tensor& tensor, std::int64_t row) noexcept {
  return static_cast<float*>(row_address(tensor, row));
}

// Values [first, first + count) of the row-major order of a small F32 tensor (a gain, a bias, sinks, ...).
inline float value_at(const inlay_tensor& tensor, std::int64_t i) noexcept {
  return row_of(tensor, i / columns(tensor))[i % columns(tensor)];
}

// `count` values of `type` at `source`, exactly what their bits stand for.
void widen(std::uint32_t type, const void* source, float* values, std::int64_t count) noexcept;

// Rows [first, first + matrix.rows()) of a tensor of any type.
void read(const inlay_host& host, const inlay_tensor& tensor, std::int64_t first, Matrix& matrix);

bool is_float(std::uint32_t type) noexcept;  // F32, F16 or BF16
bool is_known(std::uint32_t type) noexcept;  // a type that widen() takes
std::int64_t block_values(std::uint32_t type) noexcept;
std::size_t row_bytes(std::uint32_t type, std::int64_t count) noexcept;

// ---- one for each operation
void run(const Step&, const inlay_embed_op&);
void run(const Step&, const inlay_norm_op&);
void run(const Step&, const inlay_linear_op&);
void run(const Step&, const inlay_binary_op&);
void run(const Step&, const inlay_glu_op&);
void run(const Step&, const inlay_rope_op&);
void run(const Step&, const inlay_attention_op&);
void run(const Step&, const inlay_pick_op&);
void run(const Step&, const inlay_route_op&);
void run(const Step&, const inlay_experts_op&);
void run(const Step&, const inlay_scan_op&);
void run(const Step&, const inlay_choose_op&);

// ---- parts that joined forms share with the operations they join
void norm_row(const inlay_norm_op& op, std::int64_t row, const float* x, float* y);
float activate(std::uint32_t act, float gate, float up, float alpha, float limit, float beta = 0) noexcept;
void rotate(const Step&, const inlay_rope_op& op, std::int64_t token, float* head) noexcept;

// y[T,N] = x w', as the contract sums it; scaled and biased where asked.
struct Product {
  const inlay_tensor *w, *bias;
  float scale;
};
void multiply(const Step&, const Matrix& x, const Product& product, Matrix& y);

}  // namespace inlay::cpu::reference

// Blocks to floats, plain and exact: what every tensor type stands for. Kernels that are faster must equal this.
#pragma once

#include <cstddef>

#include "gguf/types.hpp"

namespace inlay::inline v0::gguf {

// Writes the `count` values, whole blocks, that `blocks` stand for; `blocks` may lie at any address.
void dequantize(Type type, const void* blocks, float* values, std::size_t count) noexcept;

}  // namespace inlay::inline v0::gguf

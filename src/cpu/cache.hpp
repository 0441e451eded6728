// How keys and values lie in the pages of a pool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inlay/backend.h"

namespace inlay::cpu {

// What the functions of the same names in inlay_backend promise.
std::size_t cache_bytes(const inlay_cache& cache, int which) noexcept;
void read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k, float* v) noexcept;
void write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k, const float* v) noexcept;

}  // namespace inlay::cpu

// The reference's cache: every row is a vector of one head in the file format's own blocks, rows of a page in order.
#pragma once

#include "cpu/reference_tensor.hpp"

namespace inlay::cpu::reference {

enum Half { keys, values };

bool can_store(std::uint32_t type, std::int64_t count) noexcept;
std::size_t page_bytes(const inlay_cache& cache, int which) noexcept;

// The vector of one head in slot = page * page_size + row. Of a latent cache, values are the head of the keys.
void store(const inlay_cache& cache, Half half, std::int64_t slot, int head, const float* vector) noexcept;
void load(const inlay_cache& cache, Half half, std::int64_t slot, int head, float* vector) noexcept;

// A state slot's floats.
float* state_of(const inlay_cache& cache, std::int64_t slot) noexcept;

}  // namespace inlay::cpu::reference

// The reference's cache: in a page, the vectors of all heads of one token, then those of the next.
#pragma once

#include "cpu/reference_tensor.hpp"

namespace inlay::cpu::reference {

enum Half { keys, values };

std::size_t page_bytes(const inlay_cache& cache, int which) noexcept;

// The vector of one head in slot = page * page_size + row. Of a latent cache, values are the head of the keys.
void store(const inlay_cache& cache, Half half, std::int64_t slot, int head, const float* vector) noexcept;
void load(const inlay_cache& cache, Half half, std::int64_t slot, int head, float* vector) noexcept;

}  // namespace inlay::cpu::reference

// Floats to blocks: the nearest that a tensor type can say, without knowledge of how the values are used.
#pragma once

#include <cstddef>

#include "gguf/types.hpp"

namespace inlay::inline v0::gguf {

// Whether quantize() makes blocks of this type: not those of IQ1, IQ2 and IQ3, nor of integers and activations.
bool can_quantize(Type type) noexcept;

// Writes the blocks of `count` values, whole blocks of them. Values that are not finite give some valid code.
void quantize(Type type, const float* values, void* blocks, std::size_t count) noexcept;

}  // namespace inlay::inline v0::gguf

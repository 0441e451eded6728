// The quantizers of blocks of 256 values.
#pragma once

#include "gguf/blocks.hpp"

namespace inlay::inline v0::gguf {

void encode(const float* values, BlockQ2_K& block);
void encode(const float* values, BlockQ3_K& block);
void encode(const float* values, BlockQ4_K& block);
void encode(const float* values, BlockQ5_K& block);
void encode(const float* values, BlockQ6_K& block);
void encode(const float* values, BlockIQ4_XS& block);

}  // namespace inlay::inline v0::gguf

// Ternary matrices of BitNet's own files (I2_S): one scale behind all codes, which blocks of other types cannot hold.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace inlay::inline v0::gguf {

// The scale of a whole tensor of so many values. Throws nothing; `data` is as long as the parser has checked.
float ternary_scale(std::span<const std::byte> data, std::size_t values) noexcept;

// The same codes as blocks of Q2_0 with a scale of 1.
std::vector<std::byte> ternary_blocks(std::span<const std::byte> data, std::size_t values);

}  // namespace inlay::inline v0::gguf

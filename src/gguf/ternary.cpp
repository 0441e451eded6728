// Reads I2_S: 128 values in 32 bytes, and the tensor's scale behind them.
#include "gguf/ternary.hpp"

#include <cstring>

#include "gguf/blocks.hpp"

namespace inlay::inline v0::gguf {

float ternary_scale(std::span<const std::byte> data, std::size_t values) noexcept {
  float scale;
  std::memcpy(&scale, data.data() + values / 4, sizeof scale);
  return scale;
}

std::vector<std::byte> ternary_blocks(std::span<const std::byte> data, std::size_t values) {
  constexpr std::size_t in_block = 64;
  constexpr Half one = 0x3C00;
  std::vector<std::byte> bytes(values / in_block * sizeof(BlockQ2_0));
  for (std::size_t first = 0; first < values; first += in_block) {
    BlockQ2_0 block = {.scale = one, .codes = {}};
    for (std::size_t i = 0; i < in_block; ++i) {
      const auto at = (first + i) % 128;
      const auto byte = std::to_integer<unsigned>(data[(first + i) / 128 * 32 + at % 32]);
      block.codes[i / 4] =
          static_cast<std::uint8_t>(block.codes[i / 4] | (byte >> (6 - 2 * (at / 32)) & 3) << 2 * (i % 4));
    }
    std::memcpy(bytes.data() + first / in_block * sizeof block, &block, sizeof block);
  }
  return bytes;
}

}  // namespace inlay::inline v0::gguf

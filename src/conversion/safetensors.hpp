// Reads safetensors files: a JSON header that names tensors, then their data. Nothing in it is believed before it is
// checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::inline v0::conversion {

enum class Dtype { f32, f16, bf16 };

constexpr std::size_t bytes_of(Dtype type) { return type == Dtype::f32 ? 4 : 2; }

// One tensor, in row-major order, whose data lie in the file.
struct Stored {
  std::string name;
  Dtype type;
  std::vector<std::int64_t> shape;  // outermost first; no dimension is 0
  std::span<const std::byte> data;
};

// The tensors of a file that lies in memory, in the order of their data. Throws Error{format} naming file and tensor: a
// header over 100 MB or past the end, what is no such JSON, types other than F32, F16 and BF16, shapes that do not
// match their bytes, data that overlap, leave holes or end elsewhere than the file.
std::vector<Stored> read_safetensors(std::span<const std::byte> file, const std::string& file_name);

// `count` values of `data` from value `first` on, as floats.
void to_floats(Dtype type, std::span<const std::byte> data, std::size_t first, std::size_t count, float* out);

}  // namespace inlay::inline v0::conversion

// Proves: BitNet's own ternary files, whose scale stands behind a whole matrix, give what other ternary blocks give.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/half.hpp"
#include "gguf/blocks.hpp"
#include "gguf/dequantize.hpp"
#include "gguf/types.hpp"
#include "gguf/write.hpp"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/models.hpp"

namespace {

namespace fs = std::filesystem;
using inlay::gguf::Tensor;
using inlay::gguf::Type;

constexpr float scale = 0.0625f;  // a power of two: where it is multiplied with changes no bit

bool is_matrix(const Tensor& tensor) { return tensor.name.starts_with("blk.") && tensor.shape.size() == 2; }

// 0, 1 or 2 for each value of a matrix: below, near and above zero.
std::vector<unsigned> codes_of(const Tensor& tensor) {
  std::vector<float> values(std::size_t(tensor.shape[0] * tensor.shape[1]));
  inlay::gguf::dequantize(Type(tensor.type), tensor.data.data(), values.data(), values.size());
  std::vector<unsigned> codes;
  for (const float value : values) codes.push_back(value < -0.02f ? 0 : value > 0.02f ? 2 : 1);
  return codes;
}

std::vector<std::byte> as_i2_s(const std::vector<unsigned>& codes) {
  std::vector<std::byte> bytes(codes.size() / 4 + 32);
  for (std::size_t i = 0; i < codes.size(); ++i)
    bytes[i / 128 * 32 + i % 32] |= std::byte(codes[i] << (6 - 2 * (i % 128 / 32)));
  std::memcpy(bytes.data() + codes.size() / 4, &scale, sizeof scale);
  return bytes;
}

std::vector<std::byte> as_tq2_0(const std::vector<unsigned>& codes) {
  std::vector<inlay::gguf::BlockTQ2_0> blocks(codes.size() / 256);
  for (auto& block : blocks) block.scale = inlay::base::float_to_half(scale);
  for (std::size_t i = 0; i < codes.size(); ++i)
    blocks[i / 256].codes[i % 256 / 128 * 32 + i % 32] |= std::uint8_t(codes[i] << 2 * (i % 128 / 32));
  const auto bytes = std::as_bytes(std::span(blocks));
  return {bytes.begin(), bytes.end()};
}

fs::path ternary_file(const support::Folder& folder, Type type, std::string_view also = {}) {
  const auto file = inlay::gguf::File::open(support::nano());
  const fs::path path = folder.file(inlay::gguf::type_info(type).name);
  std::ofstream stream(path, std::ios::binary);
  inlay::gguf::Writer writer([&](std::span<const std::byte> bytes) {
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  });
  const auto changes = [&](const Tensor& tensor) { return is_matrix(tensor) || tensor.name == also; };
  for (const auto& key : file.keys()) writer.copy(key);
  for (const auto& tensor : file.tensors())
    writer.tensor(tensor.name, changes(tensor) ? type : Type(tensor.type), tensor.shape);
  for (const auto& tensor : file.tensors()) {
    if (!changes(tensor))
      writer.data(tensor.data);
    else
      writer.data(type == Type::I2_S ? as_i2_s(codes_of(tensor)) : as_tq2_0(codes_of(tensor)));
  }
  writer.finish();
  return path;
}

std::vector<float> logits(const fs::path& path, const std::string& isa) {
  const auto model = inlay::Model::load(path.string(), {.threads = 2, .isa = isa});
  auto session = model.session();
  const int tokens[] = {5, 90, 17, 1200, 3, 44}, wanted[] = {0, 3, 5};
  return session.evaluate(tokens, wanted);
}

TEST_CASE("I2_S gives the bits of TQ2_0 on every instruction set") {
  const support::Folder folder;
  const auto apart = ternary_file(folder, Type::I2_S), together = ternary_file(folder, Type::TQ2_0);
  for (const auto& isa : support::instruction_sets()) {
    INFO(isa);
    const auto got = logits(apart, isa);
    CHECK(got == logits(together, isa));
    CHECK(got[0] != got[1]);
  }
}

TEST_CASE("a ternary matrix whose scale would be forgotten is refused") {
  const support::Folder folder;
  const auto path = ternary_file(folder, Type::I2_S, "token_embd.weight");
  CHECK_THROWS_AS(inlay::Model::load(path.string()), inlay::Error);
}

}  // namespace

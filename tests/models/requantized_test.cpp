// Proves: the same quantized file gives the same logits on every instruction set as on the reference.
#include <filesystem>
#include <fstream>

#include "gguf/dequantize.hpp"
#include "gguf/quantize.hpp"
#include "gguf/write.hpp"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/folder.hpp"

namespace {

namespace fs = std::filesystem;
using inlay::gguf::Type;
using support::Golden;

// Matrices whose rows allow it become `type`; norms, biases and the like stay.
bool quantizes(const inlay::gguf::Tensor& tensor, Type type) {
  return tensor.shape.size() >= 2 && tensor.shape.back() % inlay::gguf::type_info(type).block_values == 0 &&
         tensor.name.find("norm") == std::string_view::npos && tensor.name.ends_with(".weight");
}

// The blocks, or (widened) the floats that they stand for.
std::vector<std::byte> bytes_as(const inlay::gguf::Tensor& tensor, Type type, bool widened) {
  const auto n = tensor.data.size() / sizeof(float);
  std::vector<float> values(n);
  inlay::gguf::dequantize(Type::F32, tensor.data.data(), values.data(), n);
  std::vector<std::byte> out(inlay::gguf::bytes_of(type, n));
  inlay::gguf::quantize(type, values.data(), out.data(), n);
  if (!widened) return out;
  inlay::gguf::dequantize(type, out.data(), values.data(), n);
  const auto floats = std::as_bytes(std::span(values));
  return {floats.begin(), floats.end()};
}

fs::path requantized(const std::string& path, Type type, bool widened, const fs::path& out) {
  const auto file = inlay::gguf::File::open(path);
  std::ofstream stream(out, std::ios::binary);
  inlay::gguf::Writer writer([&](std::span<const std::byte> bytes) {
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  });
  for (const auto& key : file.keys()) writer.copy(key);
  for (const auto& tensor : file.tensors())
    writer.tensor(tensor.name, quantizes(tensor, type) && !widened ? type : Type(tensor.type), tensor.shape);
  for (const auto& tensor : file.tensors()) {
    if (quantizes(tensor, type))
      writer.data(bytes_as(tensor, type, widened));
    else
      writer.data(tensor.data);
  }
  writer.finish();
  return out;
}

std::vector<float> logits(const fs::path& path, const std::string& isa, const std::vector<int>& tokens) {
  const auto model = inlay::Model::load(
      path.string(), {.threads = 1, .keys = inlay::CacheType::f32, .values = inlay::CacheType::f32, .isa = isa});
  auto session = model.session();
  std::vector<int> all(tokens.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = int(i);
  return session.evaluate(tokens, all);
}

// An activation that lies within a float's rounding of the middle between two of its 255 steps may be rounded to either
// on two instruction sets, and later layers carry that on. All such steps together are what eight-bit activations cost,
// which the same weights as F32 tell. Each result lies within that of the exact one, so two lie within twice that;
// where no step fell differently, or nothing could be quantized, by f32 rounding only.
void check(const Golden& golden, Type type, int& exact) {
  const support::Folder folder;
  const auto path = requantized(golden.model, type, false, folder.file("quantized")),
             widened = requantized(golden.model, type, true, folder.file("widened"));
  const auto& tokens = golden.sequences.at("s17");
  const auto expected = logits(path, "reference", tokens);
  const double bound = support::largest_difference(expected, logits(widened, "reference", tokens));
  for (const auto& isa : support::instruction_sets()) {
    const double largest = support::largest_difference(logits(path, isa, tokens), expected);
    INFO(golden.name << " as " << inlay::gguf::type_info(type).name << " on " << isa << ": " << largest << " of "
                     << bound);
    CHECK(largest <= std::max(2 * bound, golden.abs_f32));
    exact += isa != "reference" && largest <= golden.abs_f32;
    support::count("requantized", 1);
  }
}

// A step that falls differently may choose another expert, whose results are others altogether.
bool chooses_experts(const Golden& golden) {
  const auto file = inlay::gguf::File::open(golden.model);
  return file.find(golden.architecture + ".expert_count");
}

TEST_CASE("requantized models equal the reference on the same file") {
  int exact = 0, models = 0;
  const auto sets = int(support::instruction_sets().size()) - 1;  // without the reference
  for (const auto& golden : support::goldens("arch", "causal"))
    if (!chooses_experts(golden))
      for (const auto type : {Type::Q8_0, Type::Q4_0}) check(golden, type, exact), models += sets;
  CHECK(exact * 5 >= models * 2);
}

}  // namespace

// Proves that every tensor type stands for exactly the floats it should, and that quantizing loses no more than it
// must.
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "gguf/blocks.hpp"
#include "gguf/dequantize.hpp"
#include "gguf/quantize.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using namespace inlay::gguf;

std::vector<float> read_floats(const std::filesystem::path& path) {
  const std::string bytes = support::read(path);
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(a)) == 0; }

std::vector<float> decoded(Type type, const std::string& blocks) {
  const TypeInfo& info = type_info(type);
  std::vector<float> values(blocks.size() / info.block_bytes * info.block_values);
  dequantize(type, blocks.data(), values.data(), values.size());
  return values;
}

std::string encoded(Type type, const std::vector<float>& values) {
  std::string blocks(bytes_of(type, values.size()), '\0');
  quantize(type, values.data(), blocks.data(), values.size());
  return blocks;
}

double error_of(const std::vector<float>& values, const std::vector<float>& truth) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += std::pow(static_cast<double>(values[i]) - truth[i], 2);
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

template <class Test>
void for_each_type(const Test& test) {
  for (const auto& folder : support::folders("quant")) {
    const auto manifest = nlohmann::json::parse(support::read(folder / "manifest.json"));
    for (const auto& entry : manifest["types"]) {
      const std::string name = entry["name"];
      INFO((folder / name).string());
      const TypeInfo* info = find_type(name);
      REQUIRE(info != nullptr);
      test(folder / name, entry, *info);
    }
  }
}

}  // namespace

TEST_CASE("the type table agrees with the manifest") {
  for_each_type([](const std::filesystem::path&, const nlohmann::json& entry, const TypeInfo& info) {
    CHECK(static_cast<std::uint32_t>(info.type) == entry["id"]);
    CHECK(info.block_values == entry["block_values"]);
    CHECK(info.block_bytes == entry["block_bytes"]);
    CHECK(find_type(static_cast<std::uint32_t>(info.type)) == &info);
  });
  CHECK(find_type(36u)->tail_bytes == 32);  // of BitNet's own files; elsewhere the number is of no type
  for (const std::uint32_t id : {4u, 5u, 31u, 32u, 33u, 37u, 38u, 43u, 9999u}) CHECK(find_type(id) == nullptr);
}

TEST_CASE("blocks stand for their values to the bit") {
  for_each_type([](const std::filesystem::path& stem, const nlohmann::json& entry, const TypeInfo& info) {
    const auto truth = read_floats(stem.string() + ".values.f32");
    const std::string blocks = support::read(stem.string() + ".blocks");
    const auto values = decoded(info.type, blocks);
    REQUIRE(values.size() == truth.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) different += !same(values[i], truth[i]);
    CHECK(different == 0);

    const std::string moved = "x" + blocks;  // blocks may lie at any address
    std::vector<float> again(info.block_values);
    dequantize(info.type, moved.data() + 1, again.data(), again.size());
    CHECK(same(again[0], truth[0]));
    support::count("quantized blocks", entry["blocks"]);
  });
}

TEST_CASE("quantizing loses no more than the reference does") {
  for_each_type([](const std::filesystem::path& stem, const nlohmann::json& entry, const TypeInfo& info) {
    if (!can_quantize(info.type) || !std::filesystem::exists(stem.string() + ".input.f32")) return;
    const auto input = read_floats(stem.string() + ".input.f32");
    const double own = error_of(decoded(info.type, encoded(info.type, input)), input);
    const double reference = error_of(decoded(info.type, support::read(stem.string() + ".quantized")), input);
    CHECK(own <= reference * (1 + 1e-6));
    if (entry.contains("quantizer_rmse")) CHECK(own <= entry["quantizer_rmse"].get<double>() * (1 + 1e-6));
  });
}

TEST_CASE("quantizing anything gives blocks") {
  const float odd[] = {std::numeric_limits<float>::infinity(),   -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN(),  std::numeric_limits<float>::max(),
                       std::numeric_limits<float>::denorm_min(), -0.0f};
  for (const TypeInfo& info : type_table) {
    if (!can_quantize(info.type)) continue;
    INFO(info.name);
    for (const float value : odd) {
      std::vector<float> values(256, 1);
      values[3] = value;
      CHECK(encoded(info.type, values).size() == bytes_of(info.type, 256));
      encoded(info.type, std::vector<float>(256, value));
    }
    for (const float zero : decoded(info.type, encoded(info.type, std::vector<float>(256)))) REQUIRE(zero == 0);
  }
}

TEST_CASE("numbers that are no blocks are themselves") {
  const auto decode = [](Type type, const auto& number) {
    float value = 0;
    dequantize(type, &number, &value, 1);
    return value;
  };
  CHECK(decode(Type::F32, 1.5f) == 1.5f);
  CHECK(decode(Type::F64, -2.5) == -2.5f);
  CHECK(decode(Type::I8, std::int8_t{-7}) == -7);
  CHECK(decode(Type::I16, std::int16_t{-700}) == -700);
  CHECK(decode(Type::I32, std::int32_t{-70000}) == -70000);
  CHECK(decode(Type::I64, std::int64_t{1} << 40) == 0x1p40f);
}

TEST_CASE("activation blocks stand for scale times code") {
  BlockQ8_1 small{0x3800, 0, {}};  // 0.5
  BlockQ8_K large{0.25f, {}, {}};
  small.codes[31] = -3;
  large.codes[255] = 5;
  float values[256];
  dequantize(Type::Q8_1, &small, values, 32);
  CHECK(values[31] == -1.5f);
  dequantize(Type::Q8_K, &large, values, 256);
  CHECK(values[255] == 1.25f);
}

TEST_CASE("halves go to float and back unchanged, and floats go to the nearest half") {
  using namespace inlay::base;
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (!std::isnan(half_to_float(bits))) REQUIRE(float_to_half(half_to_float(bits)) == bits);
    if (!std::isnan(bfloat16_to_float(bits))) REQUIRE(float_to_bfloat16(bfloat16_to_float(bits)) == bits);
  }
  for (std::uint32_t i = 0; i < 0x7C00; ++i) {  // halfway between neighbours: to the even one
    const auto low = static_cast<std::uint16_t>(i);
    const float above = i == 0x7BFF ? 65536.0f : half_to_float(static_cast<std::uint16_t>(i + 1));
    const float middle = (half_to_float(low) + above) / 2;
    REQUIRE(float_to_half(middle) == low + (low & 1));
    REQUIRE(float_to_half(std::nextafter(middle, 0.0f)) == low);
    REQUIRE(float_to_half(std::nextafter(-middle, -1e6f)) == (0x8000 | (low + 1)));
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(half_to_float(float_to_half(nan))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(nan))));
  CHECK(float_to_half(1e30f) == 0x7C00);
  CHECK(float_to_bfloat16(1 + 0x1p-8f) == 0x3F80);
  CHECK(float_to_bfloat16(1 + 0x3p-8f) == 0x3F82);
}

// Packing: sizes and strides, pieces in any order, stacks of matrices, and weights that are refused.
#include "cpu/pack.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/half.hpp"
#include "gguf/types.hpp"
#include "tests/support/catch.hpp"

namespace {

using Bytes = std::vector<std::byte>;
using inlay::gguf::Type;

constexpr Type packed_types[] = {Type::F32,   Type::F16,    Type::BF16,   Type::Q4_0, Type::Q4_1, Type::Q5_0,
                                 Type::Q5_1,  Type::Q8_0,   Type::Q2_K,   Type::Q3_K, Type::Q4_K, Type::Q5_K,
                                 Type::Q6_K,  Type::IQ4_NL, Type::IQ4_XS, Type::Q1_0, Type::Q2_0, Type::TQ2_0,
                                 Type::MXFP4, Type::NVFP4,  Type::TQ1_0};
bool is_larger_packed(Type type) {
  return type == Type::Q1_0 || type == Type::MXFP4 || type == Type::NVFP4 || type == Type::TQ1_0;
}

// Bytes below 0x60 are part of no infinite half.
Bytes harmless_bytes(std::size_t n, unsigned seed = 7) {
  std::mt19937 random(seed);
  Bytes bytes(n);
  for (auto& byte : bytes) byte = std::byte(random() % 0x60);
  return bytes;
}

inlay_tensor matrix(Type type, std::int64_t rows, std::int64_t columns, Bytes& bytes) {
  const auto row_bytes = static_cast<std::int64_t>(inlay::gguf::bytes_of(type, columns));
  bytes = harmless_bytes(rows * row_bytes);
  return {bytes.data(), static_cast<std::uint32_t>(type), 2, {rows, columns}, {row_bytes}};
}

struct Packed {
  inlay_tensor view = {};
  Bytes bytes;

  explicit Packed(const inlay_tensor& source) {
    bytes.resize(inlay::cpu::pack(source, INLAY_ROLE_MATRIX, 0, 0, view), std::byte{0xAA});
    view.data = bytes.data();
  }
  std::size_t pack(const inlay_tensor& source, std::int64_t first, std::int64_t rows) {
    return inlay::cpu::pack(source, INLAY_ROLE_MATRIX, first, rows, view);
  }
};

}  // namespace

TEST_CASE("a packed weight is little larger than the file's") {
  for (const Type type : packed_types) {
    if (is_larger_packed(type)) continue;
    Bytes bytes;
    const inlay_tensor source = matrix(type, 64, 512, bytes);
    const Packed packed(source);
    INFO(inlay::gguf::type_info(type).name);
    CHECK(packed.bytes.size() >= bytes.size());
    CHECK(packed.bytes.size() <= bytes.size() * 1.04);
    CHECK(packed.view.type == INLAY_PRIVATE + source.type);
    CHECK(packed.view.stride[0] * 64 == static_cast<std::int64_t>(packed.bytes.size()));
  }
}

TEST_CASE("pieces in any order give what the whole gives, rows past the end are zeros") {
  for (const Type type : packed_types) {
    Bytes bytes;
    const inlay_tensor source = matrix(type, 37, 256, bytes);
    Packed whole(source), pieces(source);
    REQUIRE(whole.pack(source, 0, 37) != SIZE_MAX);
    for (const auto& [first, rows] : {std::pair{32, 5}, {0, 16}, {16, 16}})
      REQUIRE(pieces.pack(source, first, rows) != SIZE_MAX);
    INFO(inlay::gguf::type_info(type).name);
    CHECK(whole.bytes == pieces.bytes);
  }
}

TEST_CASE("a stack of matrices is packed one by one") {
  Bytes bytes;
  inlay_tensor source = matrix(Type::Q4_0, 3 * 20, 64, bytes);
  const inlay_tensor flat = source;
  source.rank = 3;
  const std::int64_t shape[] = {3, 20, 64}, stride[] = {20 * flat.stride[0], flat.stride[0]};
  std::copy_n(shape, 3, source.shape);
  std::copy_n(stride, 2, source.stride);
  Packed stack(source);
  REQUIRE(stack.pack(source, 0, 60) != SIZE_MAX);
  for (int i = 0; i < 3; ++i) {
    inlay_tensor one = flat;
    one.data = bytes.data() + i * source.stride[0];
    one.shape[0] = 20;
    Packed alone(one);
    REQUIRE(alone.pack(one, 0, 20) != SIZE_MAX);
    CHECK(stack.view.stride[0] == static_cast<std::int64_t>(alone.bytes.size()));
    CHECK(std::memcmp(stack.bytes.data() + i * stack.view.stride[0], alone.bytes.data(), alone.bytes.size()) == 0);
  }
}

TEST_CASE("scales that are no numbers, and shapes that are no matrices of whole blocks, are refused") {
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    Bytes bytes;
    const inlay_tensor source = matrix(Type::Q8_0, 16, 64, bytes);
    const std::uint16_t half = inlay::base::float_to_half(bad);
    std::memcpy(bytes.data() + 5 * source.stride[0] + 34, &half, sizeof half);
    Packed packed(source);
    CHECK(packed.pack(source, 0, 16) == SIZE_MAX);
  }
  Bytes bytes;
  inlay_tensor source = matrix(Type::Q4_0, 16, 64, bytes), packed = {};
  source.shape[1] = 40;
  CHECK(inlay::cpu::pack(source, INLAY_ROLE_MATRIX, 0, 0, packed) == SIZE_MAX);
  source.shape[1] = 64;
  source.type = INLAY_I32;
  CHECK(inlay::cpu::pack(source, INLAY_ROLE_MATRIX, 0, 0, packed) == SIZE_MAX);
}

TEST_CASE("a table that is read row by row stays as it is") {
  Bytes bytes;
  const inlay_tensor source = matrix(Type::Q4_0, 16, 64, bytes);
  inlay_tensor packed = {};
  CHECK(inlay::cpu::pack(source, INLAY_ROLE_TABLE, 0, 0, packed) == 0);
}

// Whole groups are packed by vectors, others number by number: the bytes that differ can only be those of the last row.
TEST_CASE("rows lie the same in a whole group and in one that lacks its last row") {
  for (const Type type : packed_types) {
    const bool halves = type == Type::F16 || type == Type::BF16;
    Bytes bytes;
    inlay_tensor source = matrix(type, 16, halves ? 43 : 512, bytes);
    const auto row_bytes = std::size_t(source.stride[0]);
    Packed whole(source);
    REQUIRE(whole.pack(source, 0, 16) != SIZE_MAX);
    std::vector<bool> is_of_last(whole.bytes.size());
    for (unsigned seed = 8; seed < 40; ++seed) {  // every bit of it changes in one of these
      std::ranges::copy(harmless_bytes(row_bytes, seed), bytes.end() - std::ptrdiff_t(row_bytes));
      Packed changed(source);
      REQUIRE(changed.pack(source, 0, 16) != SIZE_MAX);
      for (std::size_t i = 0; i < is_of_last.size(); ++i)
        if (changed.bytes[i] != whole.bytes[i]) is_of_last[i] = true;
    }
    source.shape[0] = 15;
    Packed part(source);
    REQUIRE(part.pack(source, 0, 15) != SIZE_MAX);
    INFO(inlay::gguf::type_info(type).name);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < is_of_last.size(); ++i) wrong += !is_of_last[i] && whole.bytes[i] != part.bytes[i];
    CHECK(std::ranges::count(is_of_last, true) > std::int64_t(row_bytes) / 2);
    CHECK(wrong == 0);
  }
}

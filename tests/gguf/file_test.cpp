// Proves that what is written is read back: every value type, tensors, files at any address.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "gguf/write.hpp"
#include "inlay/gguf.hpp"
#include "tests/gguf/helpers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using namespace inlay::gguf;
using namespace gguf_test;
using inlay::Errc;
using inlay::Error;
using inlay::Fault;

// A file with a key of every type and two tensors.
std::string sample(std::uint32_t alignment = 32) {
  std::string out;
  Writer writer(into(out), alignment);
  writer.key("u8", std::uint8_t{200});
  writer.key("i8", std::int8_t{-100});
  writer.key("u16", std::uint16_t{60000});
  writer.key("i16", std::int16_t{-30000});
  writer.key("u32", std::uint32_t{4000000000});
  writer.key("i32", std::int32_t{-2000000000});
  writer.key("u64", std::numeric_limits<std::uint64_t>::max());
  writer.key("i64", std::numeric_limits<std::int64_t>::min());
  writer.key("f32", 1.5f);
  writer.key("f64", -2.5);
  writer.key("flag", true);
  writer.key("text", "a string");
  const std::int16_t numbers[] = {1, -2, 3};
  writer.array("numbers", numbers);
  const std::string_view texts[] = {"one", "", std::string_view("t\0o", 3)};
  writer.array("texts", texts);
  const std::int64_t matrix[] = {3, 2}, row[] = {32};
  writer.tensor("matrix", Type::F32, matrix);
  writer.tensor("row", Type::Q8_0, row);
  const float values[] = {1, 2, 3, 4, 5, 6};
  const auto data = std::as_bytes(std::span(values));
  writer.data(data.first(5));
  writer.data(data.subspan(5));
  writer.data(std::vector<std::byte>(34, std::byte{7}));
  writer.finish();
  return out;
}

void check_sample(const File& file) {
  CHECK(file.version() == 3);
  CHECK(file.integer("u8") == 200);
  CHECK(file.integer("i8") == -100);
  CHECK(file.integer("u16") == 60000);
  CHECK(file.integer("i16") == -30000);
  CHECK(file.integer("u32") == 4000000000);
  CHECK(file.integer("i32") == -2000000000);
  CHECK(file.integer("i64") == std::numeric_limits<std::int64_t>::min());
  CHECK(file.real("f32") == 1.5);
  CHECK(file.real("f64") == -2.5);
  CHECK(file.real("u64") == 0x1p64);
  CHECK(file.real("i8") == -100);
  CHECK(file.flag("flag"));
  CHECK(file.text("text") == "a string");
  const Value& texts = *file.find("texts");
  CHECK(texts.size() == 3);
  CHECK(texts.text(0) == "one");
  CHECK(texts.text(1) == "");
  CHECK(texts.text(2) == std::string_view("t\0o", 3));
  const Value& numbers = *file.find("numbers");
  CHECK(numbers.type() == ValueType::array);
  CHECK(numbers.element_type() == ValueType::i16);
  CHECK(numbers.integer(1) == -2);
  CHECK(numbers.real(2) == 3.0);

  REQUIRE(file.tensors().size() == 2);
  const Tensor& matrix = *file.tensor("matrix");
  CHECK(std::vector(matrix.shape.begin(), matrix.shape.end()) == std::vector<std::int64_t>{3, 2});
  CHECK(type_name(matrix.type) == "F32");
  CHECK(matrix.data.size() == 24);
  CHECK(reinterpret_cast<const float*>(matrix.data.data())[5] == 6);
  CHECK(file.tensor("row")->data.back() == std::byte{7});
  CHECK(file.tensor("row")->data.size() == 34);
}

}  // namespace

TEST_CASE("a written file is read back") {
  for (const std::uint32_t alignment : {8u, 32u, 4096u}) {
    const std::string content = sample(alignment);
    CHECK(content.size() % alignment == 0);
    const File file = File::read(as_bytes(content));
    CHECK(file.alignment() == alignment);
    CHECK(file.bytes() == content.size());
    check_sample(file);
  }
  const Folder folder;
  const File file = File::open(folder.write("sample.gguf", sample()));
  check_sample(file);
  for (const Tensor& tensor : file.tensors()) file.drop(tensor.data);
  check_sample(file);
}

TEST_CASE("a file in memory may lie at any address") {
  const std::string content = sample();
  for (std::size_t shift = 0; shift < 9; ++shift) {
    const std::string moved = std::string(shift, 'x') + content;
    const File file = File::read(as_bytes(moved).subspan(shift));
    check_sample(file);
    file.drop(file.tensors()[0].data);
    check_sample(file);
  }
}

TEST_CASE("a copy of a file outlives what happens to the file") {
  const Folder folder;
  const std::string path = folder.write("sample.gguf", sample());
  const File file = File::open(path, {.copy = true});
  std::filesystem::resize_file(path, 10);
  check_sample(file);
  file.drop(file.tensors()[0].data);
  check_sample(file);
  CHECK(fault_of([&] { File::open(path, {.copy = true}); }) == Fault::truncated);
}

TEST_CASE("a copied key is the same key") {
  const auto folder = support::folders("malformed").front() / "gguf";
  for (const char* name : {"ok_unknown_keys_all_types.gguf", "ok_unknown_nested_array.gguf", "ok_alignment_64.gguf"}) {
    const File file = File::open((folder / name).string());
    std::string out;
    Writer writer(into(out));
    for (const Key& key : file.keys()) writer.copy(key);
    for (const Tensor& tensor : file.tensors())
      writer.tensor(tensor.name, static_cast<Type>(tensor.type), tensor.shape);
    for (const Tensor& tensor : file.tensors()) writer.data(tensor.data);
    writer.finish();
    const File again = File::read(as_bytes(out));
    const std::size_t without = file.find("general.alignment") ? 1 : 0;
    REQUIRE(again.keys().size() == file.keys().size() - without);
    for (const Key& key : again.keys()) {
      const Value& original = *file.find(key.name);
      CHECK(key.value.type() == original.type());
      REQUIRE(key.value.size() == original.size());
      for (std::size_t i = 0; i < original.size(); ++i) {
        CHECK(key.value.integer(i) == original.integer(i));
        CHECK(key.value.text(i) == original.text(i));
      }
    }
    for (const Tensor& tensor : file.tensors()) {
      CHECK(std::ranges::equal(again.tensor(tensor.name)->data, tensor.data));
    }
  }
}

TEST_CASE("typed access names what is wrong with a key") {
  const std::string content = sample();
  const File file = File::read(as_bytes(content));
  CHECK(fault_of([&] { file.integer("absent"); }) == Fault::missing_key);
  CHECK(fault_of([&] { file.integer("text"); }) == Fault::wrong_type);
  CHECK(fault_of([&] { file.integer("f32"); }) == Fault::wrong_type);
  CHECK(fault_of([&] { file.integer("numbers"); }) == Fault::wrong_type);
  CHECK(fault_of([&] { file.integer("u64"); }) == Fault::bad_value);
  CHECK(fault_of([&] { file.flag("u8"); }) == Fault::wrong_type);
  CHECK(fault_of([&] { file.text("flag", "other"); }) == Fault::wrong_type);
  CHECK(file.integer("absent", 5) == 5);
  CHECK(file.real("absent", 0.5) == 0.5);
  CHECK(file.flag("absent", true));
  CHECK(file.text("absent", "other") == "other");
  CHECK(file.text("text", "other") == "a string");
  try {
    file.integer("text");
  } catch (const Error& error) {
    CHECK(error.where() == "text");
    CHECK(std::string(error.what()) == "key \"text\" must be an integer, not of type string");
  }
  CHECK(file.find("absent") == nullptr);
  CHECK(file.tensor("absent") == nullptr);
  CHECK(type_name(4).empty());
}

TEST_CASE("the writer refuses what is no GGUF file") {
  std::string out;
  const std::int64_t bad_row[] = {33}, empty[] = {0}, good[] = {32};
  const auto refuses = [](const auto& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.code() == Errc::argument;
    }
    return false;
  };
  CHECK(refuses([&] { Writer(into(out), 12); }));
  Writer writer(into(out));
  CHECK(refuses([&] { writer.tensor("row", Type::Q4_0, bad_row); }));
  CHECK(refuses([&] { writer.tensor("row", Type::Q4_0, empty); }));
  CHECK(refuses([&] { writer.tensor("row", Type::Q4_0, {}); }));
  writer.tensor("row", Type::Q4_0, good);
  CHECK(refuses([&] { writer.finish(); }));
  CHECK(refuses([&] { writer.key("late", 1); }));
  CHECK(refuses([&] { writer.tensor("late", Type::Q4_0, good); }));
  writer.data(std::vector<std::byte>(18));
  CHECK(refuses([&] { writer.data(std::vector<std::byte>(1)); }));
  writer.finish();
  const auto file = File::read(as_bytes(out));
  CHECK(file.tensors().size() == 1);
}

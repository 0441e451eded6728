// Proves that a model in several files opens from any of them, and that files which do not belong together are refused.
#include <filesystem>
#include <string>
#include <vector>

#include "gguf/write.hpp"
#include "inlay/gguf.hpp"
#include "tests/gguf/helpers.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace inlay::gguf;
using namespace gguf_test;
using inlay::Errc;
using inlay::Error;
using inlay::Fault;

// Part `number` of a model in `count` parts, with one tensor of its own.
std::string part(int number, int count, const std::string& tensor, int total) {
  std::string out;
  Writer writer(into(out));
  if (number == 0) writer.key("general.architecture", "llama");
  writer.key("split.no", static_cast<std::uint16_t>(number));
  writer.key("split.count", static_cast<std::uint16_t>(count));
  writer.key("split.tensors.count", total);
  const std::int64_t shape[] = {1};
  writer.tensor(tensor, Type::I8, shape);
  writer.data(std::vector<std::byte>(1, static_cast<std::byte>(number)));
  writer.finish();
  return out;
}

}  // namespace

TEST_CASE("a split model opens from any of its parts") {
  const Folder folder;
  const std::string names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"};
  const auto write = [&](int number, const std::string& content) { return folder.write(names[number], content); };
  for (int i = 0; i < 3; ++i) write(i, part(i, 3, "t" + std::to_string(i), 3));
  for (const std::string& name : names) {
    const File file = File::open(folder.file(name));
    REQUIRE(file.tensors().size() == 3);
    CHECK(file.text("general.architecture") == "llama");
    for (int i = 0; i < 3; ++i) CHECK(file.tensor("t" + std::to_string(i))->data[0] == static_cast<std::byte>(i));
    const File part = File::open(folder.file(name), {.split = false});
    CHECK(part.tensors().size() == 1);
  }
  const std::string first = folder.file(names[0]);
  const auto open = [&] { File::open(first); };
  SECTION("a tensor in two parts") {
    write(2, part(2, 3, "t0", 3));
    CHECK(fault_of(open) == Fault::duplicate);
  }
  SECTION("a part that is another one") {
    write(2, part(1, 3, "t2", 3));
    CHECK(fault_of(open) == Fault::inconsistent);
  }
  SECTION("a part of a model with another count") {
    write(2, part(2, 4, "t2", 3));
    CHECK(fault_of(open) == Fault::inconsistent);
  }
  SECTION("another number of tensors than announced") {
    write(0, part(0, 3, "t0", 4));
    CHECK(fault_of(open) == Fault::inconsistent);
  }
  SECTION("a name that is not the part's") {
    const std::string renamed = folder.write("m-00002-of-00004.gguf", part(1, 3, "t1", 3));
    CHECK(fault_of([&] { File::open(renamed); }) == Fault::inconsistent);
  }
  SECTION("a number beyond the count") {
    write(0, part(7, 3, "t0", 3));
    CHECK(fault_of(open) == Fault::bad_value);
  }
  SECTION("a part that is not there") {
    std::filesystem::remove(folder.file(names[1]));
    try {
      open();
      FAIL("opened");
    } catch (const Error& error) {
      CHECK(error.code() == Errc::io);
      CHECK(std::string(error.what()).find(names[1]) != std::string::npos);
    }
  }
}

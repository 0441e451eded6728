// Proves that no file, however broken, does more than end in the right error, and that none costs more than it weighs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "gguf/write.hpp"
#include "inlay/gguf.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/heap.hpp"

namespace {

using inlay::Errc;
using inlay::Error;
using inlay::gguf::File;
using Bytes = std::vector<std::byte>;

// Looks at everything that the file has, so that a sanitizer sees what is not in it.
std::size_t touch(const File& file) {
  std::size_t seen = 0;
  for (const auto& [name, value] : file.keys()) {
    seen += name.size();
    for (std::size_t i = 0; i <= value.size(); ++i) {
      seen += value.integer(i).has_value() + value.real(i).has_value() + value.flag(i).value_or(false);
      for (const char c : value.text(i).value_or("")) seen += c == 'e';
    }
  }
  for (const auto& tensor : file.tensors()) {
    for (const std::byte byte : tensor.data) seen += std::to_integer<std::size_t>(byte);
  }
  return seen;
}

// The kind of the error that `open` ends in, or "load".
template <class Open>
std::string outcome(const Open& open) {
  try {
    touch(open());
    return "load";
  } catch (const Error& error) {
    CHECK(error.code() == Errc::format);
    CHECK(std::string(error.what()).size() > 10);
    return support::kind_of(error.fault());
  }
}

Bytes read_bytes(const std::filesystem::path& path) {
  const std::string text = support::read(path);
  Bytes bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

Bytes valid_small() { return read_bytes(support::folders("malformed").front() / "gguf/valid_small.gguf"); }

void check_heap(std::size_t file_bytes, std::size_t used_before) {
  const std::size_t cost = heap::peak() - used_before;
  CHECK(cost <= 4 * file_bytes + (1 << 20));
}

}  // namespace

TEST_CASE("every file of the malformed corpus has the outcome that its manifest lists") {
  for (const auto& folder : support::folders("malformed")) {
    const auto manifest = nlohmann::json::parse(support::read(folder / "manifest.json"));
    for (const auto& entry : manifest["files"]) {
      const std::string name = entry["name"], expect = entry["expect"], stage = entry["stage"];
      const std::string path = (folder / entry["file"].get<std::string>()).string();
      std::set<std::string> allowed;
      if (entry.contains("kind")) allowed.insert(entry["kind"].get<std::string>());
      for (const auto& kind : entry.value("also", nlohmann::json::array())) allowed.insert(kind.get<std::string>());
      if (expect != "reject" || stage != "container") allowed.insert("load");  // later stages have their own tests
      if (expect == "load") allowed = {"load"};

      INFO(name);
      const std::size_t before = heap::used();
      heap::mark_peak();
      const std::string got = outcome([&] { return File::open(path); });
      check_heap(entry["size"], before);
      INFO(got);
      CHECK(allowed.count(got) == 1);
      if (name != "split_of_three") {  // a file in memory has no neighbours to look for
        const Bytes bytes = read_bytes(path);
        CHECK(outcome([&] { return File::read(bytes); }) == got);
      }
    }
    support::count("malformed gguf", manifest["files"].size());
  }
}

TEST_CASE("every prefix of a valid file is cut off, or only its final padding is") {
  const Bytes whole = valid_small();
  const File file = File::read(whole);
  const std::byte* data_end = whole.data();
  for (const auto& tensor : file.tensors()) data_end = std::max(data_end, tensor.data.data() + tensor.data.size());
  const auto needed = static_cast<std::size_t>(data_end - whole.data());
  const std::set<std::string> cut = {"truncated", "bad_count", "out_of_bounds"};
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string got = outcome([&] { return File::read(prefix); });
    INFO(size << " bytes: " << got);
    if (size >= needed) {
      CHECK(got == "load");
    } else {
      CHECK(cut.count(got) == 1);
    }
  }
}

TEST_CASE("a changed byte of the metadata ends in an error or in another valid file") {
  const Bytes whole = valid_small();
  const File file = File::read(whole);
  const std::byte* data = whole.data() + whole.size();
  for (const auto& tensor : file.tensors()) data = std::min(data, tensor.data.data());
  const auto metadata = static_cast<std::size_t>(data - whole.data());
  REQUIRE(metadata > 1000);
  for (const auto change : {std::byte{0xFF}, std::byte{0x01}, std::byte{0x80}}) {
    for (std::size_t i = 0; i < metadata; ++i) {
      Bytes changed = whole;
      changed[i] ^= change;
      const std::size_t before = heap::used();
      heap::mark_peak();
      INFO("byte " << i);
      outcome([&] { return File::read(changed); });
      check_heap(whole.size(), before);
    }
  }
}

TEST_CASE("many small things cost at most four times their file") {
  std::string out;
  inlay::gguf::Writer writer(
      [&](std::span<const std::byte> bytes) { out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); });
  SECTION("keys") {
    for (int i = 0; i < 200'000; ++i) writer.key(std::to_string(i), true);
  }
  SECTION("empty strings") {
    const std::vector<std::string_view> empty(500'000);
    writer.array("texts", empty);
  }
  SECTION("small arrays of strings") {
    const std::vector<std::string_view> one(1);
    for (int i = 0; i < 100'000; ++i) writer.array(std::to_string(i), one);
  }
  SECTION("tensors") {
    const std::int64_t shape[] = {1};
    for (int i = 0; i < 100'000; ++i) writer.tensor(std::to_string(i), inlay::gguf::Type::I8, shape);
    writer.data(std::vector<std::byte>(100'000));
  }
  writer.finish();
  const auto bytes = std::as_bytes(std::span(out));
  for (const std::size_t size : {out.size(), out.size() / 2, out.size() / 2 + 1}) {
    const std::size_t before = heap::used();
    heap::mark_peak();
    const std::string got = outcome([&] { return File::read(bytes.first(size)); });
    check_heap(size, before);
    CHECK((got == "load") == (size == out.size()));
  }
}

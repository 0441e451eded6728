// Proves: weights from a packed file give the same logits as packed ones on every instruction set, take no memory, and
// a file that is stale or damaged in any way is written anew and never believed.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/checksum.hpp"
#include "inlay/gguf.hpp"
#include "inlay/inlay.h"
#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/models.hpp"

namespace {

namespace fs = std::filesystem;
using inlay::WeightPlace;

// A folder with a copy of the small model.
class Copy {
 public:
  Copy() { fs::copy_file(support::nano(), model()); }
  std::string model() const { return folder_.file("model.gguf"); }
  std::string packed() const { return model() + ".packed"; }
  std::vector<std::string> others() const {  // files that should not be there
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path() != model() && entry.path() != packed()) names.push_back(entry.path().string());
    return names;
  }

 private:
  support::Folder folder_;
};

std::vector<float> logits(const std::string& path, inlay::LoadOptions options) {
  options.threads = 1;
  const auto model = inlay::Model::load(path, options);
  auto session = model.session();
  const std::vector<int> tokens = {300, 17, 954, 1033, 5, 77, 801, 12, 640, 33}, all = {0, 4, 9};
  return session.evaluate(tokens, all);
}

std::string bytes_of(const std::string& path) { return support::read(path); }

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

TEST_CASE("a packed file gives the same logits, bit for bit, on every instruction set") {
  const Copy copy;
  bool first = true;
  for (const auto& isa : support::packing_instruction_sets()) {
    INFO(isa);
    const auto expected = logits(copy.model(), {.isa = isa});
    CHECK(fs::exists(copy.packed()) == !first);
    CHECK(logits(copy.model(), {.weights = WeightPlace::packed_file, .isa = isa}) == expected);
    const auto written = bytes_of(copy.packed());
    CHECK(logits(copy.model(), {.weights = WeightPlace::packed_file, .isa = isa}) == expected);
    CHECK(bytes_of(copy.packed()) == written);
    first = false;
  }
  CHECK(copy.others().empty());
}

TEST_CASE("mapped weights take no memory of the host's, and the plan says so") {
  const Copy copy;
  const inlay::LoadOptions options = {.weights = WeightPlace::packed_file};
  const auto before = inlay::Model::plan(copy.model(), options).weights;
  CHECK(!fs::exists(copy.packed()));
  logits(copy.model(), options);
  const auto after = inlay::Model::plan(copy.model(), options).weights;
  CHECK(before > fs::file_size(copy.packed()) / 2);
  CHECK(after <= std::uint64_t(1) << 20);
}

TEST_CASE("a packed file of another state of the model is written anew") {
  const Copy copy;
  const inlay::LoadOptions options = {.weights = WeightPlace::packed_file};
  const auto expected = logits(copy.model(), options);
  const auto old = bytes_of(copy.packed());
  fs::last_write_time(copy.model(), fs::last_write_time(copy.model()) + std::chrono::seconds(1));
  CHECK(logits(copy.model(), options) == expected);
  const auto touched = bytes_of(copy.packed());
  CHECK(touched != old);
  // A weight changes, and nothing else: the first byte of the largest tensor's data, which are of the model's samples.
  std::string file = bytes_of(copy.model());
  {
    const auto opened = inlay::gguf::File::read(std::as_bytes(std::span(file)));
    const auto* tensor = opened.tensor("blk.0.attn_q.weight");
    REQUIRE(tensor);
    const auto at = std::size_t(tensor->data.data() - std::as_bytes(std::span(file)).data());
    file[at + 2] = char(file[at + 2] ^ 0x7F);
  }
  const auto time = fs::last_write_time(copy.model());
  write(copy.model(), file);
  fs::last_write_time(copy.model(), time);
  const auto changed = logits(copy.model(), options);
  CHECK(changed != expected);
  CHECK(changed == logits(copy.model(), {}));
}

// What a packed file looks like, for those who would break it.
struct Head {
  char magic[8];
  std::uint32_t version, parts;
  std::uint64_t bytes, origin;
};
struct Entry {
  std::uint64_t tensor, offset, bytes, sample;
};

// Changes the head, and makes its checksum right again.
template <class Change>
std::string with_head(std::string file, const Change& change) {
  Head head;
  std::memcpy(&head, file.data(), sizeof(head));
  std::vector<Entry> entries(head.parts);
  std::memcpy(entries.data(), file.data() + sizeof(head), entries.size() * sizeof(Entry));
  change(head, entries);
  std::memcpy(file.data(), &head, sizeof(head));
  std::memcpy(file.data() + sizeof(head), entries.data(), entries.size() * sizeof(Entry));
  const auto covered = sizeof(head) + std::min<std::size_t>(head.parts, entries.size()) * sizeof(Entry);
  inlay::base::Checksum sum;
  sum.add(std::as_bytes(std::span(file)).first(covered));
  const auto value = sum.value();
  std::memcpy(file.data() + covered, &value, sizeof(value));
  return file;
}

TEST_CASE("a packed file that lies about anything is not believed") {
  const Copy copy;
  const inlay::LoadOptions options = {.weights = WeightPlace::packed_file};
  const auto expected = logits(copy.model(), options);
  const auto good = bytes_of(copy.packed());
  std::vector<std::string> bad = {"", good.substr(0, 40), good.substr(0, good.size() - 1), good + '\0',
                                  std::string(good.size(), '\0')};
  for (std::size_t i = 0; i < 200; i += 3) bad.push_back(good), bad.back()[i] ^= 1;
  using Entries = std::vector<Entry>&;
  const std::uint64_t size = good.size();
  const auto lie = [&](const auto& change) { bad.push_back(with_head(good, change)); };
  CHECK(with_head(good, [](Head&, Entries) {}) == good);
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{64}, size, size - 64, std::uint64_t{1} << 63, ~std::uint64_t{63}})
    lie([&](Head&, Entries entries) { entries[1].offset = offset; });
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, size, ~std::uint64_t{0}, ~std::uint64_t{63}, std::uint64_t{1} << 63})
    lie([&](Head&, Entries entries) { entries[2].bytes = bytes; });
  lie([](Head&, Entries entries) { entries[1].offset += 32; });
  lie([](Head&, Entries entries) { entries[1].offset += 64; });  // the sample is another
  lie([](Head&, Entries entries) { std::swap(entries[0], entries[1]); });
  lie([](Head&, Entries entries) { entries[0].tensor = entries[1].tensor; });
  lie([](Head& head, Entries) { head.parts = ~0u; });
  lie([](Head& head, Entries) { head.parts = 0; });
  lie([](Head& head, Entries) { head.version = 2; });
  lie([](Head& head, Entries) { head.bytes += 1; });
  for (std::size_t i = 0; i < bad.size(); ++i) {
    INFO("file " << i);
    write(copy.packed(), bad[i]);
    CHECK(logits(copy.model(), options) == expected);
    CHECK(bytes_of(copy.packed()) == good);
  }
}

// Whose size does not fit is packed as if it were not there; what lies there is not read.
TEST_CASE("a part of another size is not used") {
  const Copy copy;
  const inlay::LoadOptions options = {.weights = WeightPlace::packed_file};
  const auto expected = logits(copy.model(), options);
  const auto good = bytes_of(copy.packed());
  write(copy.packed(), with_head(good, [&](Head&, std::vector<Entry>& entries) {
          entries[0].bytes = 64;
          inlay::base::Checksum sample;
          for (int i = 0; i < 3; ++i) sample.add(std::as_bytes(std::span(good)).subspan(entries[0].offset, 64));
          entries[0].sample = sample.value();
        }));
  const auto changed = bytes_of(copy.packed());
  CHECK(logits(copy.model(), options) == expected);
  CHECK(bytes_of(copy.packed()) == changed);  // believed as a whole
}

TEST_CASE("without a place for it, a packed file is only missed") {
  const Copy copy;
  fs::create_directory(copy.packed());  // no file can take its place
  std::string said;
  inlay::LoadOptions options = {.weights = WeightPlace::packed_file};
  options.log = [&](inlay::Level level, std::string_view text) {
    if (level == inlay::Level::warning) said += text;
  };
  CHECK(logits(copy.model(), options) == logits(copy.model(), {}));
  CHECK(said.find("packed weights") != std::string::npos);
  CHECK(copy.others().empty());
  const auto file = bytes_of(copy.model());
  CHECK_THROWS_AS(inlay::Model::load(std::as_bytes(std::span(file)), options), inlay::Error);
}

TEST_CASE("weights as the model's file has them give the same logits, and take no memory") {
  for (const auto& isa : support::packing_instruction_sets()) {
    INFO(isa);
    CHECK(logits(support::nano(), {.weights = WeightPlace::model_file, .isa = isa}) ==
          logits(support::nano(), {.isa = isa}));
  }
  CHECK(inlay::Model::plan(support::nano(), {.weights = WeightPlace::model_file}).weights <= std::uint64_t(1) << 20);
}

TEST_CASE("C loads from a packed file, too") {
  const Copy copy;
  inlay_load load = INLAY_LOAD_INIT;
  load.weights = INLAY_WEIGHTS_PACKED_FILE;
  for (int i = 0; i < 2; ++i) {
    inlay_model* model = nullptr;
    const auto path = copy.model();
    REQUIRE(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_OK);
    inlay_model_free(model);
    CHECK(fs::exists(copy.packed()));
  }
}

}  // namespace

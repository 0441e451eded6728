// Reads the golden models, and asks the backend what this machine can run.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include <fstream>

#include "gguf/dequantize.hpp"
#include "gguf/types.hpp"
#include "gguf/write.hpp"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/folder.hpp"

namespace support {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using inlay::gguf::Type;

bool is_narrow(const inlay::gguf::Tensor& tensor) { return Type(tensor.type) == Type::BF16; }

std::vector<float> numbers_of(const inlay::gguf::Tensor& tensor) {
  std::vector<float> numbers(tensor.data.size() / 2);
  inlay::gguf::dequantize(Type::BF16, tensor.data.data(), numbers.data(), numbers.size());
  return numbers;
}

// Some fixtures hold their matrices as bfloat16, to be small. Processors that multiply those round what they multiply
// them with, which is none of the architecture's business: those files are widened.
std::string widened(const fs::path& path) {
  static std::map<fs::path, fs::path> known;
  static const Folder made;
  const auto file = inlay::gguf::File::open(path.string());
  if (std::none_of(file.tensors().begin(), file.tensors().end(), is_narrow)) return path.string();
  if (const auto found = known.find(path); found != known.end()) return found->second.string();
  const fs::path out = made.file(std::to_string(known.size()) + ".gguf");
  std::ofstream stream(out, std::ios::binary);
  inlay::gguf::Writer writer([&](std::span<const std::byte> bytes) {
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  });
  for (const auto& key : file.keys()) writer.copy(key);
  for (const auto& tensor : file.tensors())
    writer.tensor(tensor.name, is_narrow(tensor) ? Type::F32 : Type(tensor.type), tensor.shape);
  for (const auto& tensor : file.tensors()) {
    if (!is_narrow(tensor)) {
      writer.data(tensor.data);
      continue;
    }
    const auto numbers = numbers_of(tensor);
    writer.data(std::as_bytes(std::span(numbers)));
  }
  writer.finish();
  return known.emplace(path, out).first->second.string();
}

Golden read_golden(const std::filesystem::path& path, const Json& j) {
  Golden g;
  g.name = j["name"], g.architecture = j["architecture"];
  g.model = widened(path.parent_path() / j["gguf"].get<std::string>());
  g.abs_f32 = j["tolerance"]["abs_f32"], g.abs_reduced = j["tolerance"]["abs_reduced"];
  g.context = j.contains("long_context_n_ctx") ? j["long_context_n_ctx"].begin().value().get<int>() : 0;
  for (const auto& s : j["sequences"]) {
    g.sequences[s["name"]] = s[s.contains("tokens") ? "tokens" : "decoder_tokens"].get<std::vector<int>>();
    if (s.contains("encoder_tokens")) g.sources[s["name"]] = s["encoder_tokens"].get<std::vector<int>>();
  }
  const auto bytes = read(path.parent_path() / j["values_file"].get<std::string>());
  for (const auto& o : j["outputs"]) {
    Golden::Block block{o["sequence"],
                        o["kind"],
                        o.contains("positions") && o["positions"].is_array() ? o["positions"].get<std::vector<int>>()
                                                                             : std::vector<int>{},
                        {}};
    block.values.resize(o["shape"][0].get<std::size_t>() * o["shape"][1].get<std::size_t>());
    std::memcpy(block.values.data(), bytes.data() + o["offset_floats"].get<std::size_t>() * sizeof(float),
                block.values.size() * sizeof(float));
    g.blocks.push_back(std::move(block));
  }
  if (j.contains("greedy")) {
    g.greedy_prompt = j["greedy"]["prompt"];
    g.greedy = j["greedy"]["tokens"].get<std::vector<int>>();
  }
  return g;
}

}  // namespace

double largest_difference(std::span<const float> got, std::span<const float> expected) {
  double largest = got.size() == expected.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    const double difference = std::abs(double(got[i]) - double(expected[i]));
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

std::vector<Golden> goldens(std::string_view folder, std::string_view kind) {
  std::vector<Golden> found;
  for (const auto& place : folders(folder))
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      if (entry.path().extension() != ".json" || entry.path().filename() == "manifest.json") continue;
      const auto j = Json::parse(read(entry.path()));
      if (j["kind"] == kind) found.push_back(read_golden(entry.path(), j));
    }
  return found;
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> usable;
  const std::string model = (data() / "arch" / "llama.gguf").string();
  for (const char* isa : {"reference", "baseline", "avx2", "avx512", "avx512vnni", "avx512bf16", "avx512amx", "neon",
                          "neon_dot", "neon_i8mm"}) {
    try {
      inlay::Model::load(model, {.isa = isa});
      usable.push_back(isa);
    } catch (const inlay::Error& error) {
      if (error.code() != inlay::Errc::argument) throw;
    }
  }
  return usable;
}

}  // namespace support

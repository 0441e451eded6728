// Conversion from front to back: settings, tensors' names and shapes, tokenizer, then the data.
#include "inlay/convert.hpp"

#include <fmt/format.h>

#include <cmath>
#include <new>
#include <system_error>

#include "base/replacement.hpp"
#include "conversion/tensors.hpp"
#include "conversion/vocabulary.hpp"

namespace inlay::inline v0 {
namespace {

using namespace conversion;

// The numbers that GGUF files have for the type of most of their tensors.
std::uint32_t file_type(WeightType type) {
  switch (type) {
    case WeightType::f32: return 0;
    case WeightType::q8_0: return 7;
    case WeightType::bf16: return 32;
    default: return 1;
  }
}

// "1.2B" for a number of parameters: at least two digits.
std::string size_label(std::uint64_t parameters) {
  struct Unit {
    double size;
    char letter;
  };
  constexpr Unit units[] = {{1e12, 'T'}, {1e9, 'B'}, {1e6, 'M'}, {1e3, 'K'}};
  const auto number = static_cast<double>(parameters);
  for (const auto& [size, letter] : units) {
    if (number <= size && size != 1e3) continue;
    const int decimals = number / size < 0.5 ? 2 : number / size < 9.5 ? 1 : 0;
    return fmt::format("{:.{}f}{}", number / size, decimals, letter);
  }
  return {};
}

void add_general(const Folder& folder, const Family& family, const Plan& plan, Metadata& metadata) {
  metadata.set("general.architecture", std::string(family.architecture));
  metadata.set("general.type", std::string("model"));
  metadata.set("general.name", folder.name());
  metadata.set("general.size_label", size_label(plan.values));
  metadata.set("general.file_type", file_type(plan.type));
  metadata.set("general.quantization_version", std::uint32_t{2});
  const Json json = folder.json("generation_config.json");
  const Settings usual("generation_config.json", json);
  const auto set = [&](std::string_view name, std::string_view key) {
    if (const auto value = usual.real(key)) metadata.set(name, static_cast<float>(*value));
  };
  if (usual.find("top_k")) {
    metadata.set("general.sampling.top_k", static_cast<std::int32_t>(usual.count("top_k")));
  }
  set("general.sampling.top_p", "top_p");
  set("general.sampling.min_p", "min_p");
  set("general.sampling.temp", "temperature");
  set("general.sampling.penalty_repeat", "repetition_penalty");
}

// How the rows of a text's tokens become its embedding, where the folder is of a model that embeds.
void add_pooling(const Folder& folder, const Family& family, Metadata& metadata) {
  const Json modules = folder.json("modules.json");
  for (const Json& one : modules.items()) {
    const Json *type = one.find("type"), *path = one.find("path");
    if (!type || !path || !type->text().ends_with("Pooling")) continue;
    const auto file = std::string(path->text()) + "/config.json";
    const Json json = folder.json(file);
    const Json* named = json.find("pooling_mode");
    constexpr struct {
      std::string_view flag, name;
    } kinds[] = {{"pooling_mode_mean_tokens", "mean"},
                 {"pooling_mode_cls_token", "cls"},
                 {"pooling_mode_lasttoken", "lasttoken"}};
    for (std::uint32_t i = 0; i < std::size(kinds); ++i) {
      const Json* value = json.find(kinds[i].flag);
      const bool* flag = value ? value->as<bool>() : nullptr;
      if ((flag && *flag) || (named && named->text() == kinds[i].name))
        return metadata.set(std::string(family.architecture) + ".pooling_type", i + 1);
    }
    Settings(file, json).fail(Fault::unsupported, "pooling_mode", "is none of mean, cls and lasttoken");
  }
}

void write_file(const Plan& plan, const Metadata& metadata, const std::string& out,
                const std::function<bool(float)>& progress) {
  base::Replacement file(out);
  gguf::Writer writer([&](std::span<const std::byte> bytes) { file.write(bytes); });
  metadata.write(writer);
  for (const Output& output : plan.outputs) writer.tensor(output.name, output.type, output.shape);
  std::uint64_t written = 0;
  const auto done = [&](std::uint64_t values) {
    written += values;
    const auto share = static_cast<float>(static_cast<double>(written) / static_cast<double>(plan.values));
    if (progress && !progress(share)) throw Error(Errc::cancelled, "the conversion was given up");
  };
  for (const Output& output : plan.outputs) write_tensor(output, writer, done);
  writer.finish();
  file.commit();
}

void convert_folder(const Folder& folder, const std::string& out, const ConvertOptions& options) {
  if (!folder.has("config.json")) throw Error(Errc::io, fmt::format("cannot open {}", folder.path("config.json")));
  Json whole = folder.json("config.json");
  const Family& family = find_family(whole);
  const Json config = settings_of(family, std::move(whole));
  if (config.find("quantization_config")) {
    throw Error(Errc::unsupported,
                "config.json: \"quantization_config\": weights that are quantized cannot be converted",
                Fault::unsupported, "quantization_config");
  }
  std::vector<Extra> extras;
  Metadata metadata;
  describe(family, config, metadata, extras);
  const Checkpoint checkpoint(folder);
  const Plan plan = plan_tensors(family, config, checkpoint, std::move(extras), options.type);
  add_general(folder, family, plan, metadata);
  add_pooling(folder, family, metadata);
  add_vocabulary(folder, family, config, metadata);
  write_file(plan, metadata, out, options.progress);
}

}  // namespace

void convert(std::string_view folder, std::string_view out, const ConvertOptions& options) try {
  if (static_cast<unsigned>(options.type) > static_cast<unsigned>(WeightType::q8_0))
    throw Error(Errc::argument, "there is no such type of weights", Fault::none, "type");
  convert_folder(Folder(folder), std::string(out), options);
} catch (const std::system_error& error) {
  throw Error(Errc::io, fmt::format("cannot write {}: {}", out, error.code().message()));
} catch (const std::bad_alloc&) {
  throw Error(Errc::memory, "out of memory");
}

}  // namespace inlay::inline v0

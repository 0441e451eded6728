// Converted files equal those that llama.cpp's converter writes, tensor for tensor and key for key.
#include "inlay/convert.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/conversion/helpers.hpp"

using inlay::WeightType;
using inlay::gguf::File;
using inlay::gguf::Value;
using inlay::gguf::ValueType;
using nlohmann::json;
using support::model_folder;
using support::Work;

namespace {

struct Case {
  std::string model, expected;
  WeightType type;
};

const Case cases[] = {
    {"llama", "auto", WeightType::source},   {"llama", "q8_0", WeightType::q8_0},
    {"mistral", "auto", WeightType::source}, {"smollm3", "auto", WeightType::source},
    {"qwen2", "auto", WeightType::source},   {"qwen3", "auto", WeightType::source},
    {"gemma", "auto", WeightType::source},   {"gemma2", "f16", WeightType::f16},
    {"gemma3", "auto", WeightType::source},  {"phi3", "f32", WeightType::f32},
};

json json_of(const Value& value) {
  json list = json::array();
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (const auto text = value.text(i)) {
      list.push_back(*text);
    } else if (const auto flag = value.flag(i)) {
      list.push_back(*flag);
    } else if (const auto integer = value.integer(i)) {
      list.push_back(*integer);
    } else {
      list.push_back(value.real(i).value_or(NAN));
    }
  }
  return list;
}

// The name is made from a model card there, and from the folder here.
void check_keys(const File& got, const File& expected) {
  std::set<std::string> names;
  for (const auto& key : got.keys()) names.insert(std::string(key.name));
  for (const auto& key : expected.keys()) {
    const std::string name(key.name);
    INFO(name);
    const Value* value = got.find(name);
    REQUIRE(value);
    names.erase(name);
    if (name == "general.name") continue;
    CHECK(value->type() == key.value.type());
    CHECK(value->element_type() == key.value.element_type());
    CHECK(json_of(*value) == json_of(key.value));
  }
  for (const auto& name : names) {
    INFO(name);
    CHECK(false);
  }
}

// Powers in floats are not the same to the last bit everywhere.
void check_factors(std::span<const std::byte> got, std::span<const std::byte> expected) {
  for (std::size_t at = 0; at < got.size(); at += sizeof(float)) {
    float a, b;
    std::memcpy(&a, got.data() + at, sizeof(a));
    std::memcpy(&b, expected.data() + at, sizeof(b));
    CHECK(std::fabs(a - b) <= 4e-7f * std::fabs(b));
  }
}

void check_tensors(const File& got, const File& expected) {
  CHECK(got.tensors().size() == expected.tensors().size());
  for (const auto& tensor : expected.tensors()) {
    INFO(tensor.name);
    const auto* found = got.tensor(tensor.name);
    REQUIRE(found);
    CHECK(found->type == tensor.type);
    REQUIRE(std::ranges::equal(found->shape, tensor.shape));
    REQUIRE(found->data.size() == tensor.data.size());
    if (tensor.name == "rope_freqs.weight") {
      check_factors(found->data, tensor.data);
    } else {
      CHECK(std::memcmp(found->data.data(), tensor.data.data(), tensor.data.size()) == 0);
    }
  }
}

// The same model as a part of one that also sees: settings within settings, other names, and tensors of no use.
void nest(const Work& work, const std::string& model, const std::string& model_class, const std::string& prefix) {
  work.copy(model);
  auto config = json::parse(support::read(work.file("config.json")));
  config.erase("architectures");
  work.write("config.json",
             json{{"architectures", {model_class}}, {"text_config", config}, {"vision_config", {}}}.dump());
  const auto file = support::read(work.file("model.safetensors"));
  std::uint64_t length;
  std::memcpy(&length, file.data(), sizeof length);
  json header, old = json::parse(file.substr(sizeof length, length));
  std::size_t end = 0;
  for (const auto& [name, tensor] : old.items()) {
    header[name == "__metadata__" ? name : prefix + name] = tensor;
    if (tensor.contains("data_offsets")) end = std::max(end, tensor["data_offsets"][1].get<std::size_t>());
  }
  const json seeing = {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {end, end + sizeof(float)}}};
  header["vision_tower.patches.weight"] = seeing;
  const auto text = header.dump();
  const std::uint64_t size = text.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  work.write("model.safetensors",
             bytes + text + file.substr(sizeof length + length) + std::string(sizeof(float), '\0'));
}

}  // namespace

TEST_CASE("the text of a model that also sees is converted like the text alone") {
  const Work seeing;
  nest(seeing, "gemma3", "Gemma3ForConditionalGeneration", "language_model.");
  inlay::convert(seeing.path(), seeing.file("out.gguf"));
  const auto got = File::open(seeing.file("out.gguf"));
  const auto expected = File::open(model_folder("gemma3") + "/expected-auto.gguf");
  check_keys(got, expected);
  check_tensors(got, expected);

  const Work mistral;
  nest(mistral, "mistral", "Mistral3ForConditionalGeneration", "language_model.");
  inlay::convert(mistral.path(), mistral.file("out.gguf"));
  const auto text = File::open(mistral.file("out.gguf"));
  CHECK(text.text("general.architecture") == "mistral3");
  check_tensors(text, File::open(model_folder("mistral") + "/expected-auto.gguf"));
}

TEST_CASE("a model that embeds says how its rows are pooled, and whether they see later tokens") {
  const auto converted = [](const json& pooling) {
    const Work work;
    work.copy("qwen3");
    auto config = json::parse(support::read(work.file("config.json")));
    config["architectures"] = {"Qwen3Model"}, config["is_causal"] = false;
    work.write("config.json", config.dump());
    work.write("modules.json", json::array({{{"path", ""}, {"type", "sentence_transformers.models.Transformer"}},
                                            {{"path", "1_Pooling"}, {"type", "sentence_transformers.models.Pooling"}}})
                                   .dump());
    std::filesystem::create_directory(work.file("1_Pooling"));
    work.write("1_Pooling/config.json", pooling.dump());
    inlay::convert(work.path(), work.file("out.gguf"));
    const auto file = File::open(work.file("out.gguf"), {.copy = true});
    CHECK(!file.flag("qwen3.attention.causal"));
    check_tensors(file, File::open(model_folder("qwen3") + "/expected-auto.gguf"));
    return file.integer("qwen3.pooling_type");
  };
  CHECK(converted({{"pooling_mode_mean_tokens", false}, {"pooling_mode_lasttoken", true}}) == 3);
  CHECK(converted({{"pooling_mode_cls_token", true}}) == 2);
  CHECK(converted({{"pooling_mode", "mean"}}) == 1);
  CHECK_THROWS_AS(converted({{"pooling_mode_max_tokens", true}}), inlay::Error);
}

TEST_CASE("converted files equal the converter's of llama.cpp") {
  for (const auto& [model, name, type] : cases) {
    INFO(model << " " << name);
    const Work work;
    std::vector<float> progress;
    inlay::convert(model_folder(model), work.file("out.gguf"), {.type = type, .progress = [&](float done) {
                                                                  progress.push_back(done);
                                                                  return true;
                                                                }});
    CHECK(std::ranges::is_sorted(progress));
    REQUIRE(!progress.empty());
    CHECK(progress.back() == 1);
    const auto got = File::open(work.file("out.gguf"));
    const auto expected = File::open(model_folder(model) + "/expected-" + name + ".gguf");
    check_keys(got, expected);
    check_tensors(got, expected);
  }
  support::count("conversion", std::size(cases));
}

// Phi 2 from a folder made here: names and keys are those of llama.cpp's converter, and the numbers stay as they are.
#include <cstring>
#include <nlohmann/json.hpp>

#include "inlay/inlay.hpp"
#include "tests/conversion/helpers.hpp"

using inlay::gguf::File;
using nlohmann::json;
using support::Work;

namespace {

struct Named {
  std::string folder, file;
  std::vector<std::int64_t> shape;
};

constexpr int vocabulary = 304, width = 32, hidden = 4 * width;

std::vector<Named> tensors() {
  std::vector<Named> all = {{"model.embed_tokens.weight", "token_embd.weight", {vocabulary, width}},
                            {"lm_head.weight", "output.weight", {vocabulary, width}},
                            {"lm_head.bias", "output.bias", {vocabulary}},
                            {"model.final_layernorm.weight", "output_norm.weight", {width}},
                            {"model.final_layernorm.bias", "output_norm.bias", {width}}};
  const auto linear = [&](const std::string& folder, const std::string& file, std::int64_t out, std::int64_t in) {
    all.push_back({"model.layers.0." + folder + ".weight", "blk.0." + file + ".weight", {out, in}});
    all.push_back({"model.layers.0." + folder + ".bias", "blk.0." + file + ".bias", {out}});
  };
  for (const std::string part : {"q", "k", "v"}) linear("self_attn." + part + "_proj", "attn_" + part, width, width);
  linear("self_attn.dense", "attn_output", width, width);
  linear("mlp.fc1", "ffn_up", hidden, width);
  linear("mlp.fc2", "ffn_down", width, hidden);
  all.push_back({"model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight", {width}});
  all.push_back({"model.layers.0.input_layernorm.bias", "blk.0.attn_norm.bias", {width}});
  return all;
}

// Each number of the folder is another one.
std::vector<float> numbers_of(std::size_t index, const Named& tensor) {
  std::size_t count = 1;
  for (const auto size : tensor.shape) count *= std::size_t(size);
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = float(index) + float(i) / 16384;
  return numbers;
}

void write_folder(const Work& work) {
  work.copy("qwen2");
  work.write("config.json", json{{"architectures", {"PhiForCausalLM"}},
                                 {"hidden_size", width},
                                 {"intermediate_size", hidden},
                                 {"num_hidden_layers", 1},
                                 {"num_attention_heads", 2},
                                 {"num_key_value_heads", nullptr},
                                 {"partial_rotary_factor", 0.5},
                                 {"max_position_embeddings", 64},
                                 {"layer_norm_eps", 1e-5},
                                 {"vocab_size", vocabulary}}
                                .dump());
  json header;
  std::string data;
  for (std::size_t i = 0; const auto& tensor : tensors()) {
    const auto numbers = numbers_of(i++, tensor);
    const auto begin = data.size();
    data.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
    header[tensor.folder] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const auto text = header.dump();
  const std::uint64_t size = text.size();
  work.write("model.safetensors", std::string(reinterpret_cast<const char*>(&size), sizeof size) + text + data);
}

}  // namespace

TEST_CASE("Phi 2 is converted with the names, keys and numbers that it has") {
  const Work work;
  write_folder(work);
  inlay::convert(work.path(), work.file("out.gguf"), {.type = inlay::WeightType::f32});
  const auto file = File::open(work.file("out.gguf"));
  CHECK(file.text("general.architecture") == "phi2");
  const std::pair<const char*, int> sizes[] = {
      {"block_count", 1},          {"context_length", 64},         {"embedding_length", width},
      {"attention.head_count", 2}, {"attention.head_count_kv", 2}, {"feed_forward_length", hidden},
      {"rope.dimension_count", 8}};
  for (const auto& [key, size] : sizes) CHECK(file.integer(std::string("phi2.") + key) == size);
  CHECK(file.real("phi2.attention.layer_norm_epsilon") == double(1e-5f));
  CHECK(!file.flag("tokenizer.ggml.add_bos_token"));
  CHECK(file.tensors().size() == tensors().size());
  for (std::size_t i = 0; const auto& tensor : tensors()) {
    INFO(tensor.file);
    const auto numbers = numbers_of(i++, tensor);
    const auto* found = file.tensor(tensor.file);
    REQUIRE(found);
    REQUIRE(found->data.size() == numbers.size() * sizeof(float));
    CHECK(std::memcmp(found->data.data(), numbers.data(), found->data.size()) == 0);
  }
  CHECK(inlay::Model::unused_tensors(work.file("out.gguf")).empty());
}

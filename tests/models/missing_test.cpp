// Proves: a model without one of its tensors or numbers is refused by name, unless it can do without.
#include <algorithm>
#include <set>

#include "gguf/write.hpp"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::gguf::File;
using inlay::gguf::Type;
using Bytes = std::vector<std::byte>;

// The file less one key or tensor.
Bytes without(const File& file, std::string_view name) {
  Bytes bytes;
  inlay::gguf::Writer writer(
      [&](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); });
  for (const auto& key : file.keys())
    if (key.name != name) writer.copy(key);
  for (const auto& tensor : file.tensors())
    if (tensor.name != name) writer.tensor(tensor.name, Type(tensor.type), tensor.shape);
  for (const auto& tensor : file.tensors())
    if (tensor.name != name) writer.data(tensor.data);
  writer.finish();
  return bytes;
}

// What is said of a file: empty where it is loaded.
std::string refusal(const Bytes& bytes) {
  try {
    inlay::Model::load(bytes, {.threads = 1});
    return {};
  } catch (const inlay::Error& error) {
    return error.what();
  }
}

// "dec.blk.3.attn_q.bias" as "dec." and "attn_q.bias".
std::pair<std::string_view, std::string_view> in_layer(std::string_view name) {
  const auto block = name.find("blk.");
  if (block == name.npos) return {{}, name};
  return {name.substr(0, block), name.substr(name.find('.', block + 4) + 1)};
}

// What files may lack: a head tied to the embedding, types of tokens, factors, offsets beside a model's layers, and
// what makes another kind of layer of one: values that are its keys, no MLP, no sinks.
const std::set<std::string_view> optional = {"attn_norm_2.weight",
                                             "attn_output.scale",
                                             "attn_rel_b.weight",
                                             "attn_sinks.weight",
                                             "attn_v.weight",
                                             "exp_probs_b",
                                             "ffn_down.scale",
                                             "ffn_down_exps.scale",
                                             "ffn_up.weight",
                                             "output.bias",
                                             "ffn_gate_inp_shexp.weight",
                                             "layer_output_scale.weight",
                                             "output_norm.bias",
                                             "output.weight",
                                             "rope_freqs.weight",
                                             "time_mix_a0.weight",
                                             "time_mix_v0.weight",
                                             "time_mix_v1.weight",
                                             "time_mix_w0.weight",
                                             "token_embd_norm.bias",
                                             "token_types.weight"};

// Where a single layer has a bias or a gain, nothing tells that it lost it.
bool may_lack(const File& file, std::string_view name) {
  const auto same = [&](const auto& tensor) { return in_layer(tensor.name) == in_layer(name); };
  return optional.contains(in_layer(name).second) || std::ranges::count_if(file.tensors(), same) == 1;
}

TEST_CASE("a model that lacks a tensor is refused by its name, unless it can do without") {
  std::size_t refused = 0, named = 0;
  for (const char* kind : {"causal", "encoder", "seq2seq", "filling"})
    for (const auto& golden : support::goldens("arch", kind)) {
      const auto file = File::open(golden.model);
      for (const auto& tensor : file.tensors()) {
        INFO(golden.name << " without " << tensor.name);
        const auto said = refusal(without(file, tensor.name));
        if (said.empty()) CHECK(may_lack(file, tensor.name));
        refused += !said.empty();
        named += said.find(tensor.name) != said.npos;
      }
    }
  CHECK(named * 100 >= refused * 99);
}

TEST_CASE("a model that lacks a size is refused by the size's key") {
  for (const auto& golden : support::goldens("arch", "causal")) {
    const auto file = File::open(golden.model);
    for (const char* size : {"block_count", "embedding_length", "attention.head_count"}) {
      const auto key = golden.architecture + "." + size;
      INFO(golden.name << " without " << key);
      if (file.find(key)) CHECK(refusal(without(file, key)).find(key) != std::string::npos);
    }
  }
}

}  // namespace

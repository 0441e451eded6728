// Tensors by their names in a folder and in a GGUF file.
#include <fmt/format.h>

#include <span>

#include "conversion/family.hpp"
#include "inlay/error.hpp"

namespace inlay::inline v0::conversion {
namespace {

struct Name {
  std::string_view folder, file;
};

constexpr Name outer[] = {
    {"embed_tokens", "token_embd"}, {"norm", "output_norm"}, {"final_layernorm", "output_norm"}, {"lm_head", "output"}};

constexpr Name inner[] = {
    {"input_layernorm", "attn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.dense", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.gate_up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.fc1", "ffn_up"},
    {"mlp.fc2", "ffn_down"},
};

std::string_view find(std::span<const Name> names, std::string_view name) {
  for (const Name& one : names) {
    if (one.folder == name) return one.file;
  }
  return {};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "layers.3.mlp.up_proj" as "blk.3.ffn_up"; empty for what is no such name.
std::string in_layer(const Family& family, std::string_view name) {
  constexpr std::string_view layers = "layers.";
  if (!name.starts_with(layers)) return {};
  name.remove_prefix(layers.size());
  const auto dot = name.find('.');
  if (dot == std::string_view::npos || !is_number(name.substr(0, dot))) return {};
  const auto rest = name.substr(dot + 1);
  auto found = find(inner, rest);
  if (rest == "post_attention_layernorm") found = family.norms_around ? "post_attention_norm" : "ffn_norm";
  return found.empty() ? std::string() : fmt::format("blk.{}.{}", name.substr(0, dot), found);
}

// Where the model is a part: the name without the part's; empty for the other parts, which see.
std::string_view own_name(std::string_view name) {
  constexpr std::string_view model = "model.", language = "language_model.";
  std::string_view rest = name;
  if (rest.starts_with(model)) rest.remove_prefix(model.size());
  for (const std::string_view other : {"vision_tower.", "multi_modal_projector."})
    if (rest.starts_with(other)) return {};
  if (rest.starts_with(language)) return rest.substr(language.size());
  return name;
}

}  // namespace

std::string tensor_name(const Family& family, std::string_view full) {
  if (full.ends_with(".rotary_emb.inv_freq")) return {};  // computed from the base
  auto name = family.nested ? own_name(full) : full;
  if (name.empty()) return {};
  if (family.gemma && name == "lm_head.weight") return {};
  if (name.starts_with("model.")) name.remove_prefix(6);
  const auto dot = name.rfind('.');
  const auto suffix = dot == std::string_view::npos ? std::string_view() : name.substr(dot);
  if (suffix == ".weight" || suffix == ".bias") {
    name.remove_suffix(suffix.size());
    std::string found = in_layer(family, name);
    if (found.empty()) found = find(outer, name);
    if (!found.empty()) return found + std::string(suffix);
  }
  throw Error(Errc::unsupported,
              fmt::format("tensor \"{}\" is none that {} has", full.substr(0, 200), family.architecture),
              Fault::unsupported, std::string(full));
}

}  // namespace inlay::inline v0::conversion

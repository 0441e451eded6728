// The table of families, and the keys of each.
#include "conversion/family.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "conversion/phi.hpp"
#include "conversion/shape.hpp"

namespace inlay::inline v0::conversion {
namespace {

using Extras = std::vector<Extra>;

void set_head(const Shape& shape, std::uint32_t size, Metadata& metadata) {
  metadata.set(shape.key("attention.key_length"), size);
  metadata.set(shape.key("attention.value_length"), size);
}

// By how much Llama 3 slows each rotation: not at all where it turns often within the first context, by `factor` where
// it hardly turns, and smoothly between. In floats, as it is computed elsewhere.
void add_llama3_factors(const Shape& shape, Extras& extras) {
  const Settings rope = shape.rope();
  const auto base = shape.rope_base(10000);
  const auto factor = static_cast<float>(rope.real("factor").value_or(8));
  const auto low = static_cast<float>(rope.real("low_freq_factor").value_or(1));
  const auto high = static_cast<float>(rope.real("high_freq_factor").value_or(4));
  const auto context = static_cast<float>(rope.real("original_max_position_embeddings").value_or(8192));
  if (!(high > low)) rope.fail(Fault::bad_value, "high_freq_factor", "is not above low_freq_factor");
  Extra extra{"rope_freqs.weight", {}};
  const auto size = shape.head();
  for (std::uint32_t i = 0; i + 1 < size; i += 2) {
    const float frequency = 1 / static_cast<float>(std::pow(base, static_cast<float>(i) / static_cast<float>(size)));
    const float length = static_cast<float>(2 * std::numbers::pi) / frequency;
    if (length < context / high) {
      extra.values.push_back(1);
    } else if (length > context / low) {
      extra.values.push_back(factor);
    } else {
      const float smooth = (context / length - low) / (high - low);
      extra.values.push_back(1 / ((1 - smooth) / factor + smooth));
    }
  }
  extras.push_back(std::move(extra));
}

void describe_llama(const Shape& shape, Metadata& metadata, Extras& extras) {
  describe_common(shape, 10000, metadata);
  set_head(shape, shape.head(), metadata);
  metadata.set(shape.key("vocab_size"), shape.settings.count("vocab_size"));
  metadata.set(shape.key("rope.dimension_count"), shape.head());
  if (shape.rope_type() == "llama3") add_llama3_factors(shape, extras);
}

void describe_smollm3(const Shape& shape, Metadata& metadata, Extras&) {
  describe_common(shape, 2000000, metadata);
  if (shape.settings.find("head_dim")) set_head(shape, shape.head(), metadata);
  metadata.set(shape.key("vocab_size"), shape.settings.count("vocab_size"));
  metadata.set(shape.key("rope.dimension_count"), shape.head());
}

void describe_qwen2(const Shape& shape, Metadata& metadata, Extras&) {
  describe_common(shape, 10000, metadata);
  if (shape.settings.find("head_dim")) set_head(shape, shape.head(), metadata);
}

void describe_qwen3(const Shape& shape, Metadata& metadata, Extras&) {
  describe_common(shape, 10000, metadata);
  set_head(shape, shape.settings.count("head_dim", 128), metadata);
}

void describe_gemma(const Shape& shape, Metadata& metadata, Extras&) {
  describe_sizes(shape, 1e-6, metadata);
  set_head(shape, shape.settings.count("head_dim", 256), metadata);
}

void describe_gemma2(const Shape& shape, Metadata& metadata, Extras& extras) {
  describe_gemma(shape, metadata, extras);
  const Settings& settings = shape.settings;
  metadata.set(shape.key("attn_logit_softcapping"),
               static_cast<float>(settings.real("attn_logit_softcapping").value_or(50)));
  metadata.set(shape.key("final_logit_softcapping"),
               static_cast<float>(settings.real("final_logit_softcapping").value_or(30)));
  metadata.set(shape.key("attention.sliding_window"), settings.count("sliding_window", 4096));
}

void describe_gemma3(const Shape& shape, Metadata& metadata, Extras&) {
  const Settings& settings = shape.settings;
  if (settings.find("attn_logit_softcapping"))
    settings.fail(Fault::unsupported, "attn_logit_softcapping", "is nothing that gemma3 has");
  describe_common(shape, 1000000, metadata);
  set_head(shape, settings.count("head_dim", 256), metadata);
  metadata.set(shape.key("rope.freq_base_swa"), static_cast<float>(shape.local_rope_base(10000)));
  if (const auto cap = settings.real("final_logit_softcapping"))
    metadata.set(shape.key("final_logit_softcapping"), static_cast<float>(*cap));
  if (settings.count("sliding_window_pattern", 6) != 1)
    metadata.set(shape.key("attention.sliding_window"), settings.count("sliding_window", 4096));
}

constexpr Family llama{.architecture = "llama", .describe = describe_llama, .interleaves = true, .says_prefix = true};

constexpr Family qwen2{.architecture = "qwen2", .describe = describe_qwen2};
constexpr Family qwen3{.architecture = "qwen3", .describe = describe_qwen3};

constexpr Family with_class(Family family, std::string_view name) {
  family.model_class = name;
  return family;
}

constexpr Family families[] = {
    with_class(llama, "LlamaForCausalLM"),
    with_class(llama, "LlamaModel"),
    with_class(llama, "MistralForCausalLM"),
    with_class(llama, "MistralModel"),
    {.model_class = "SmolLM3ForCausalLM",
     .architecture = "smollm3",
     .describe = describe_smollm3,
     .interleaves = true,
     .says_prefix = true},
    with_class(qwen2, "Qwen2ForCausalLM"),
    with_class(qwen2, "Qwen2Model"),
    with_class(qwen3, "Qwen3ForCausalLM"),
    with_class(qwen3, "Qwen3Model"),
    {.model_class = "GemmaForCausalLM",
     .architecture = "gemma",
     .describe = describe_gemma,
     .gemma = true,
     .end_of_turn = 107},
    {.model_class = "Gemma2ForCausalLM",
     .architecture = "gemma2",
     .describe = describe_gemma2,
     .gemma = true,
     .norms_around = true},
    {.model_class = "Gemma3ForCausalLM",
     .architecture = "gemma3",
     .describe = describe_gemma3,
     .gemma = true,
     .norms_around = true},
    {.model_class = "Gemma3ForConditionalGeneration",
     .architecture = "gemma3",
     .describe = describe_gemma3,
     .gemma = true,
     .norms_around = true,
     .nested = true},
    {.model_class = "Mistral3ForConditionalGeneration",
     .architecture = "mistral3",
     .describe = describe_llama,
     .interleaves = true,
     .says_prefix = true,
     .nested = true},
    {.model_class = "PhiForCausalLM", .architecture = "phi2", .describe = describe_phi2},
    {.model_class = "Phi3ForCausalLM", .architecture = "phi3", .describe = describe_phi3, .marks_specials = true},
};

}  // namespace

const Family& find_family(const Json& config) {
  const Json* list = config.find("architectures");
  const Json* first = list ? list->at(0) : nullptr;
  if (!first || first->text().empty())
    throw Error(Errc::format, "config.json: \"architectures\" is missing", Fault::missing_key, "architectures");
  for (const Family& family : families) {
    if (family.model_class == first->text()) return family;
  }
  std::string known;
  for (const Family& family : families) known += fmt::format("{}{}", known.empty() ? "" : ", ", family.model_class);
  throw Error(Errc::unsupported,
              fmt::format("config.json: models of class {} cannot be converted; known are {}", first->text(), known),
              Fault::unsupported, "architectures");
}

Json settings_of(const Family& family, Json config) {
  const Json* nested = family.nested ? config.find("text_config") : nullptr;
  if (!nested) return config;
  Json settings = *nested;
  auto* members = std::get_if<Json::Object>(&settings.value);
  if (!members)
    throw Error(Errc::format, "config.json: \"text_config\" is no object", Fault::wrong_type, "text_config");
  const auto add = [&](const Member& member) {
    if (!settings.find(member.name)) members->push_back(member);
  };
  for (const Member& member : config.members())
    if (member.name != "text_config" && member.name != "vision_config") add(member);
  if (family.gemma)  // what Gemma 3's settings leave away is as its class has it
    for (const auto& [name, value] : {std::pair{"num_attention_heads", 8},
                                      {"num_key_value_heads", 4},
                                      {"max_position_embeddings", 131072},
                                      {"vocab_size", 262208}})
      add({name, {std::int64_t{value}}});
  return settings;
}

void describe(const Family& family, const Json& config, Metadata& metadata, std::vector<Extra>& extras) {
  const Shape shape(family.architecture, config);
  family.describe(shape, metadata, extras);
  const Json* causal = shape.settings.find("is_causal");
  if (const bool* flag = causal ? causal->as<bool>() : nullptr; flag && !*flag)
    metadata.set(shape.key("attention.causal"), false);
}

}  // namespace inlay::inline v0::conversion

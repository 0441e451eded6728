// The list of architectures: one name each.
#include "api/models.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "inlay/models/afmoe.hpp"
#include "inlay/models/apertus.hpp"
#include "inlay/models/arcee.hpp"
#include "inlay/models/arctic.hpp"
#include "inlay/models/arwkv7.hpp"
#include "inlay/models/baichuan.hpp"
#include "inlay/models/bailingmoe3.hpp"
#include "inlay/models/bert.hpp"
#include "inlay/models/bitnet.hpp"
#include "inlay/models/bloom.hpp"
#include "inlay/models/chameleon.hpp"
#include "inlay/models/cohere2.hpp"
#include "inlay/models/cohere2_moe.hpp"
#include "inlay/models/command_r.hpp"
#include "inlay/models/dbrx.hpp"
#include "inlay/models/deci.hpp"
#include "inlay/models/deepseek.hpp"
#include "inlay/models/deepseek2.hpp"
#include "inlay/models/dots1.hpp"
#include "inlay/models/dots3note.hpp"
#include "inlay/models/ernie4_5.hpp"
#include "inlay/models/ernie4_5_moe.hpp"
#include "inlay/models/euro_bert.hpp"
#include "inlay/models/exaone4.hpp"
#include "inlay/models/exaone_moe.hpp"
#include "inlay/models/falcon.hpp"
#include "inlay/models/falcon_h1.hpp"
#include "inlay/models/gemma.hpp"
#include "inlay/models/gemma2.hpp"
#include "inlay/models/gemma3.hpp"
#include "inlay/models/gemma3n.hpp"
#include "inlay/models/gemma4.hpp"
#include "inlay/models/gemma_embedding.hpp"
#include "inlay/models/glm4.hpp"
#include "inlay/models/glm4moe.hpp"
#include "inlay/models/gpt2.hpp"
#include "inlay/models/gpt_oss.hpp"
#include "inlay/models/gptj.hpp"
#include "inlay/models/gptneox.hpp"
#include "inlay/models/granite.hpp"
#include "inlay/models/grok.hpp"
#include "inlay/models/grovemoe.hpp"
#include "inlay/models/hrm_text.hpp"
#include "inlay/models/hunyuan.hpp"
#include "inlay/models/hy_v4.hpp"
#include "inlay/models/internlm2.hpp"
#include "inlay/models/jais.hpp"
#include "inlay/models/jamba.hpp"
#include "inlay/models/jina_bert_v2.hpp"
#include "inlay/models/kimi_linear.hpp"
#include "inlay/models/laguna.hpp"
#include "inlay/models/lfm2.hpp"
#include "inlay/models/llada.hpp"
#include "inlay/models/llama.hpp"
#include "inlay/models/llama4.hpp"
#include "inlay/models/maincoder.hpp"
#include "inlay/models/mamba.hpp"
#include "inlay/models/mamba2.hpp"
#include "inlay/models/maple.hpp"
#include "inlay/models/mellum.hpp"
#include "inlay/models/mimo2.hpp"
#include "inlay/models/minicpm.hpp"
#include "inlay/models/minicpm3.hpp"
#include "inlay/models/minimax_01.hpp"
#include "inlay/models/minimax_m2.hpp"
#include "inlay/models/minimax_m3.hpp"
#include "inlay/models/mistral3.hpp"
#include "inlay/models/modern_bert.hpp"
#include "inlay/models/mpt.hpp"
#include "inlay/models/muse_glimmer.hpp"
#include "inlay/models/nanbeige.hpp"
#include "inlay/models/nemotron.hpp"
#include "inlay/models/nemotron_h.hpp"
#include "inlay/models/nomic_bert.hpp"
#include "inlay/models/nomic_bert_moe.hpp"
#include "inlay/models/olmo.hpp"
#include "inlay/models/olmo2.hpp"
#include "inlay/models/olmoe.hpp"
#include "inlay/models/orion.hpp"
#include "inlay/models/phi2.hpp"
#include "inlay/models/phi3.hpp"
#include "inlay/models/phimoe.hpp"
#include "inlay/models/plamo.hpp"
#include "inlay/models/plamo2.hpp"
#include "inlay/models/plm.hpp"
#include "inlay/models/qwen.hpp"
#include "inlay/models/qwen2.hpp"
#include "inlay/models/qwen2moe.hpp"
#include "inlay/models/qwen3.hpp"
#include "inlay/models/qwen3moe.hpp"
#include "inlay/models/qwen3next.hpp"
#include "inlay/models/refact.hpp"
#include "inlay/models/retnet.hpp"
#include "inlay/models/rwkv6.hpp"
#include "inlay/models/rwkv6qwen2.hpp"
#include "inlay/models/rwkv7.hpp"
#include "inlay/models/seed_oss.hpp"
#include "inlay/models/smallthinker.hpp"
#include "inlay/models/smollm3.hpp"
#include "inlay/models/spark2_5.hpp"
#include "inlay/models/stablelm.hpp"
#include "inlay/models/starcoder2.hpp"
#include "inlay/models/step35.hpp"
#include "inlay/models/t5.hpp"
#include "inlay/models/talkie.hpp"

namespace inlay::api {

namespace {

// The other architectures that a class serves.
template <class M>
constexpr std::span<const std::string_view> others() {
  if constexpr (requires { M::also; })
    return M::also;
  else
    return {};
}

template <class... M>
constexpr auto rows_of() {
  std::array<nn::Architecture, ((1 + others<M>().size()) + ...)> rows{};
  auto row = rows.begin();
  const auto add = [&]<class Model>(std::type_identity<Model>) {
    *row++ = nn::architecture<Model>();
    for (const auto name : others<Model>()) *row++ = nn::architecture<Model>(name);
  };
  (add(std::type_identity<M>{}), ...);
  return rows;
}

using namespace models;
constexpr auto architectures =
    rows_of<Afmoe, Apertus, Arcee, Arctic, Arwkv7, Baichuan, BailingMoe3, Bert, Bitnet, BitnetB158, Bloom, Chameleon,
            Cohere2, Cohere2Moe, CommandR, Dbrx, Deci, Deepseek, Deepseek2, Deepseek32, Dots1, Dots3Note, Dream,
            Ernie45, Ernie45Moe, EuroBert, Exaone4, ExaoneMoe, Falcon, FalconH1, Gemma, Gemma2, Gemma3, Gemma3n, Gemma4,
            GemmaEmbedding, Glm4, Glm4Moe, GlmDsa, Gpt2, GptJ, GptNeox, GptOss, Granite, GraniteHybrid, GraniteSwa,
            Grok, GroveMoe, HrmText, Hunyuan, HyV4, Internlm2, Jais, Jamba, JinaBertV2, KimiLinear, Laguna, Lfm2, Llada,
            Llama, Llama4, Maincoder, Maple, Mamba, Mamba2, Mellum, Mimo2, Minicpm, Minicpm3, Minimax01, MinimaxM2,
            MinimaxM3, Mistral3, ModernBert, Mpt, MuseGlimmer, Nanbeige, Nemotron, NemotronH, NeoBert, NomicBert,
            NomicBertMoe, Olmo, Olmo2, Olmoe, Orion, Phi2, Phi3, Phimoe, Plamo, Plamo2, Plamo3, Plm, Qwen, Qwen2,
            Qwen2Moe, Qwen3, Qwen35, Qwen3Moe, Qwen3Next, Refact, RetNet, Rnd1, Rwkv6, Rwkv6Qwen2, Rwkv7, SeedOss,
            SmallThinker, Smollm3, Spark25, StableLm, Starcoder2, Step35, T5, T5Encoder, Talkie>();

// Decoders' names in files of encoders that were made of them, by their key "attention.causal".
constexpr nn::Architecture encoders[] = {nn::architecture<NeoBert>("llama"), nn::architecture<EuroBert>("qwen2"),
                                         nn::architecture<EuroBert>("qwen3")};

// Levenshtein's distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])}));
  }
  return row.back();
}

}  // namespace

const nn::Architecture& find_architecture(std::string_view name, std::span<const nn::Architecture* const> own,
                                          bool causal) {
  for (const auto* row : own)
    if (row->name == name) return *row;
  for (const auto& row : encoders)
    if (!causal && row.name == name) return row;
  for (const auto& row : architectures)
    if (row.name == name) return row;
  constexpr std::size_t longest = 64;  // of a name that is worth comparing or repeating
  const auto shown = name.substr(0, longest);
  const auto nearest =
      std::min_element(std::begin(architectures), std::end(architectures),
                       [&](const auto& a, const auto& b) { return distance(shown, a.name) < distance(shown, b.name); });
  throw Error(Errc::unsupported,
              "the architecture \"" + std::string(shown) + "\" is not known; the nearest known one is \"" +
                  std::string(nearest->name) + "\"",
              Fault::unsupported, "general.architecture");
}

}  // namespace inlay::api

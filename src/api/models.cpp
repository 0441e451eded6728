// The list of architectures: one row each.
#include "api/models.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "inlay/models/afmoe.hpp"
#include "inlay/models/apertus.hpp"
#include "inlay/models/arcee.hpp"
#include "inlay/models/arctic.hpp"
#include "inlay/models/arwkv7.hpp"
#include "inlay/models/baichuan.hpp"
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
#include "inlay/models/hrm_text.hpp"
#include "inlay/models/hunyuan.hpp"
#include "inlay/models/internlm2.hpp"
#include "inlay/models/jais.hpp"
#include "inlay/models/jamba.hpp"
#include "inlay/models/jina_bert_v2.hpp"
#include "inlay/models/kimi_linear.hpp"
#include "inlay/models/laguna.hpp"
#include "inlay/models/lfm2.hpp"
#include "inlay/models/llama.hpp"
#include "inlay/models/llama4.hpp"
#include "inlay/models/maincoder.hpp"
#include "inlay/models/mamba.hpp"
#include "inlay/models/mamba2.hpp"
#include "inlay/models/mellum.hpp"
#include "inlay/models/mimo2.hpp"
#include "inlay/models/minicpm.hpp"
#include "inlay/models/minicpm3.hpp"
#include "inlay/models/minimax_01.hpp"
#include "inlay/models/minimax_m2.hpp"
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

constexpr nn::Architecture architectures[] = {
    nn::architecture<models::Afmoe>(),
    nn::architecture<models::Apertus>(),
    nn::architecture<models::Arcee>(),
    nn::architecture<models::Arctic>(),
    nn::architecture<models::Arwkv7>(),
    nn::architecture<models::Baichuan>(),
    nn::architecture<models::Bert>(),
    nn::architecture<models::Bitnet>(),
    nn::architecture<models::BitnetB158>(),
    nn::architecture<models::Bloom>(),
    nn::architecture<models::Chameleon>(),
    nn::architecture<models::Cohere2>(),
    nn::architecture<models::Cohere2Moe>(),
    nn::architecture<models::CommandR>(),
    nn::architecture<models::Dbrx>(),
    nn::architecture<models::Deci>(),
    nn::architecture<models::Deepseek>(),
    nn::architecture<models::Deepseek>("bailingmoe"),
    nn::architecture<models::Deepseek>("deepseek2-ocr"),
    nn::architecture<models::Deepseek2>(),
    nn::architecture<models::Deepseek2>("mistral4"),
    nn::architecture<models::Deepseek32>(),
    nn::architecture<models::Deepseek32>("glm-dsa"),
    nn::architecture<models::Dots1>(),
    nn::architecture<models::Dots1>("bailingmoe2"),
    nn::architecture<models::Dots1>("hy_v3"),
    nn::architecture<models::Ernie45>(),
    nn::architecture<models::Ernie45Moe>(),
    nn::architecture<models::EuroBert>(),
    nn::architecture<models::Exaone4>(),
    nn::architecture<models::ExaoneMoe>(),
    nn::architecture<models::Falcon>(),
    nn::architecture<models::FalconH1>(),
    nn::architecture<models::Gemma>(),
    nn::architecture<models::Gemma2>(),
    nn::architecture<models::Gemma3>(),
    nn::architecture<models::Gemma3n>(),
    nn::architecture<models::Gemma4>(),
    nn::architecture<models::GemmaEmbedding>(),
    nn::architecture<models::Glm4>(),
    nn::architecture<models::Glm4Moe>(),
    nn::architecture<models::Gpt2>(),
    nn::architecture<models::Gpt2>("starcoder"),
    nn::architecture<models::GptJ>(),
    nn::architecture<models::GptNeox>(),
    nn::architecture<models::GptOss>(),
    nn::architecture<models::Granite>(),
    nn::architecture<models::Granite>("granitemoe"),
    nn::architecture<models::GraniteHybrid>(),
    nn::architecture<models::GraniteSwa>(),
    nn::architecture<models::Grok>(),
    nn::architecture<models::HrmText>(),
    nn::architecture<models::Hunyuan>(),
    nn::architecture<models::Hunyuan>("hunyuan-moe"),
    nn::architecture<models::Hunyuan>("hunyuan_vl"),
    nn::architecture<models::Internlm2>(),
    nn::architecture<models::Internlm2>("chatglm"),
    nn::architecture<models::Jais>(),
    nn::architecture<models::Jamba>(),
    nn::architecture<models::JinaBertV2>(),
    nn::architecture<models::KimiLinear>(),
    nn::architecture<models::Laguna>(),
    nn::architecture<models::Lfm2>(),
    nn::architecture<models::Lfm2>("lfm2moe"),
    nn::architecture<models::Llama>(),
    nn::architecture<models::Llama>("mistral"),
    nn::architecture<models::Llama>("xverse"),
    nn::architecture<models::Llama4>(),
    nn::architecture<models::Maincoder>(),
    nn::architecture<models::Mamba>(),
    nn::architecture<models::Mamba2>(),
    nn::architecture<models::Mellum>(),
    nn::architecture<models::Mimo2>(),
    nn::architecture<models::Minicpm>(),
    nn::architecture<models::Minicpm3>(),
    nn::architecture<models::Minimax01>(),
    nn::architecture<models::MinimaxM2>(),
    nn::architecture<models::Mistral3>(),
    nn::architecture<models::ModernBert>(),
    nn::architecture<models::Mpt>(),
    nn::architecture<models::MuseGlimmer>(),
    nn::architecture<models::Nanbeige>(),
    nn::architecture<models::Nemotron>(),
    nn::architecture<models::Nemotron>("jais2"),
    nn::architecture<models::NemotronH>(),
    nn::architecture<models::NemotronH>("nemotron_h_moe"),
    nn::architecture<models::NeoBert>(),
    nn::architecture<models::NeoBert>("llama-embed"),
    nn::architecture<models::NomicBert>(),
    nn::architecture<models::NomicBertMoe>(),
    nn::architecture<models::NomicBertMoe>("jina-bert-v3"),
    nn::architecture<models::Olmo>(),
    nn::architecture<models::Olmo2>(),
    nn::architecture<models::Olmoe>(),
    nn::architecture<models::Orion>(),
    nn::architecture<models::Phi2>(),
    nn::architecture<models::Phi3>(),
    nn::architecture<models::Phimoe>(),
    nn::architecture<models::Plamo>(),
    nn::architecture<models::Plamo2>(),
    nn::architecture<models::Plamo3>(),
    nn::architecture<models::Plm>(),
    nn::architecture<models::Qwen>(),
    nn::architecture<models::Qwen2>(),
    nn::architecture<models::Qwen2>("cogvlm"),
    nn::architecture<models::Qwen2>("exaone"),
    nn::architecture<models::Qwen2>("paddleocr"),
    nn::architecture<models::Qwen2>("pangu-embedded"),
    nn::architecture<models::Qwen2>("qwen2vl"),
    nn::architecture<models::Qwen2Moe>(),
    nn::architecture<models::Qwen3>(),
    nn::architecture<models::Qwen3>("openelm"),
    nn::architecture<models::Qwen3>("qwen3vl"),
    nn::architecture<models::Qwen35>(),
    nn::architecture<models::Qwen35>("qwen35moe"),
    nn::architecture<models::Qwen3Moe>(),
    nn::architecture<models::Qwen3Moe>("qwen3vlmoe"),
    nn::architecture<models::Qwen3Next>(),
    nn::architecture<models::Refact>(),
    nn::architecture<models::RetNet>(),
    nn::architecture<models::Rwkv6>(),
    nn::architecture<models::Rwkv7>(),
    nn::architecture<models::SeedOss>(),
    nn::architecture<models::SmallThinker>(),
    nn::architecture<models::Smollm3>(),
    nn::architecture<models::Spark25>(),
    nn::architecture<models::StableLm>(),
    nn::architecture<models::Starcoder2>(),
    nn::architecture<models::Starcoder2>("codeshell"),
    nn::architecture<models::Step35>(),
    nn::architecture<models::T5>(),
    nn::architecture<models::T5Encoder>(),
    nn::architecture<models::Talkie>(),
};

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

const nn::Architecture& find_architecture(std::string_view name, std::span<const nn::Architecture* const> own) {
  for (const auto* row : own)
    if (row->name == name) return *row;
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

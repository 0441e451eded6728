#include "text/pre_tokenizer.hpp"

#include <algorithm>
#include <string>

#include "inlay/error.hpp"

namespace inlay::text {
namespace {

using enum Step::Rule;

// clang-format off
// Each list is named after the first or best known of the vocabularies that it serves. Loops that would
// take quadratic time as expressions are rules.
constexpr Step llama3[] = {
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step jais2[] = {
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {R"(\A\s++(?<![\r\n])\z)", powers_of_two}};
constexpr Step deepseek_llm[] = {
    {R"([\r\n])"},
    {R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ)"
     R"(Ὗ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ)"
     R"(Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)"},
    {R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)"},
    {R"((?<!\s)\s++\z)"},
    {R"([一-龥ࠀ-一가-퟿]+)"},
    {R"(\p{N}+)"}};
constexpr Step deepseek_v3[] = {
    {R"(\p{N}{1,3})"},
    {R"([一-龥぀-ゟ゠-ヿ]+)"},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step spark[] = {
    {R"(\p{N}{1,3})"},
    {R"([一-龥぀-ゟ゠-ヿ]+)"},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n])"
     R"(|\s+(?!\S)|\s+)"},
    {R"(\p{N})"}};
constexpr Step youtu[] = {
    {R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)"},
    {R"([^\r\n\p{L}\p{N}]?%upper%*%lower%+%contraction%?|[^\r\n\p{L}\p{N}]?%upper%+%lower%*%contraction%?|\p{N})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step deepseek_coder[] = {
    {R"([\r\n])"},
    {R"(\s?\p{L}+)"},
    {R"(\s?\p{P}+)"},
    {R"([一-龥ࠀ-一가-퟿]+)"},
    {R"(\p{N})"}};
constexpr Step falcon[] = {
    {R"([\p{P}\$\+<=>\^~\|`]+)"},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"},
    {R"([0-9][0-9][0-9])"}};
constexpr Step starcoder[] = {
    {R"(\p{N})"},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"}};
constexpr Step gpt2[] = {{R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"}};
constexpr Step qwen2[] = {
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step qwen35[] = {
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step bloom[] = {{R"( ?[^(\s|.,!?…。，、।۔،)]+)"}};
constexpr Step viking[] = {
    {R"( ?[^(\s|.,!?…。，、।۔،)]+)"},
    {R"(\p{N})"}};
constexpr Step tekken[] = {
    {R"([^\r\n\p{L}\p{N}]?%upper%*%lower%+|[^\r\n\p{L}\p{N}]?%upper%+%lower%*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step chameleon[] = {
    {R"(<sentinel:[0-9]+>)"},
    {R"(IMGIMG[A-I]{1,4}Z)"},
    {R"([\t\n]|    |  )"},
    {R"(\p{N})"},
    {R"([\p{P}!-/:-@\[-`{-~])"},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"}};
constexpr Step gpt4o[] = {
    {R"([^\r\n\p{L}\p{N}]?%upper%*%lower%+%contraction%?|[^\r\n\p{L}\p{N}]?%upper%+%lower%*%contraction%?|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step cohere2[] = {
    {R"((?<!\d)\d++(?![\p{L}\p{M}\p{N}\p{Pc}Ⓐ-ⓩ🄰-🅉🅐-🅩🅰-🆉]))", thousands},
    {R"([^\r\n\p{L}\p{N}]?%upper%*%lower%+%contraction%?|[^\r\n\p{L}\p{N}]?%upper%+%lower%*%contraction%?|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step kimi[] = {
    {R"(\p{sc:Han}+|[^\r\n\p{L}\p{N}]?%upper-han%*%lower-han%+%contraction%?)"
     R"(|[^\r\n\p{L}\p{N}]?%upper-han%+%lower-han%*%contraction%?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)"
     R"(|\s+(?!\S)|\s+)"}};
constexpr Step superbpe[] = {
    {R"(\p{N}+)"},
    {R"(\d+)", thousands_cut}};
constexpr Step bailing[] = {
    {R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
     R"(|\s*[\r\n]|\s+(?!\S)|\s+)"}};
constexpr Step seed_coder[] = {
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step ufakzeka[] = {
    {R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step afmoe[] = {
    {R"(\p{N}+)", thousands},
    {R"([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)"},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step laguna[] = {
    {R"([^\n]+|[\n]+)"},
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step exaone_moe[] = {
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}[\p{L}\p{M}]*+(?: \p{L}[\p{L}\p{M}]*+)*+|\p{N})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"}};
constexpr Step lines[] = {{R"([^\n]+|[\n]+)"}};
constexpr Step minicpm5[] = {
    {R"(\p{N}{1,3})"},
    {R"(%contraction%|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
constexpr Step words[] = {{R"(\S+)"}};
constexpr Step otherwise[] = {
    {R"([\p{P}\$\+<=>\^~\|]+)"},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"},
    {R"(\p{N}+)"},
    {R"([0-9][0-9][0-9])"}};
// clang-format on

struct Row {
  std::span<const Step> steps;
  std::string_view flags;
  std::string_view names;  // separated by spaces
};

constexpr Row rows[] = {
    {llama3, "ib", "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"},
    {llama3, "", "dbrx smaug-bpe"},
    {llama3, "n", "glm4 chatglm-bpe"},
    {jais2, "", "jais-2"},
    {deepseek_llm, "", "deepseek-llm"},
    {deepseek_v3, "", "deepseek-v3 hunyuan-dense joyai-llm hy_v4"},
    {spark, "", "spark2_5"},
    {youtu, "i", "youtu"},
    {deepseek_coder, "", "deepseek-coder"},
    {falcon, "", "falcon"},
    {starcoder, "", "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"},
    {gpt2, "",
     "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum "
     "modern-bert exaone4 mpt olmo jais trillion granite-docling"},
    {gpt2, "s", "jina-v1-en jina-v2-code roberta-bpe"},
    {qwen2, "", "stablelm2 qwen2 deepseek-r1-qwen kormo f2llmv2 megrez hunyuan solar-open grok-2"},
    {qwen35, "", "qwen35"},
    {bloom, "", "poro-chat bloom gpt3-finnish"},
    {viking, "", "viking"},
    {tekken, "ib", "tekken"},
    {chameleon, "b", "chameleon"},
    {gpt4o, "", "gpt-4o llama4 kanana2 talkie minimax-m2"},
    {gpt4o, "i", "granite-embed-multi-97m"},
    {cohere2, "", "tiny_aya cohere2moe"},
    {kimi, "", "kimi-k2"},
    {superbpe, "", "superbpe"},
    {bailing, "", "bailingmoe bailingmoe2 llada-moe"},
    {seed_coder, "", "seed-coder"},
    {ufakzeka, "", "ufakzeka"},
    {afmoe, "", "afmoe"},
    {laguna, "", "laguna"},
    {exaone_moe, "", "exaone-moe"},
    {lines, "e", "gemma4 granite-embed-multi-311m sarvam-moe"},
    {minicpm5, "i", "minicpm5"},
    {words, "", "whitespace"},
    {otherwise, "", "default"},
};

bool lists(std::string_view names, std::string_view name) {
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    if (names.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

PreTokenizer pre_tokenizer_named(std::string_view name) {
  for (const Row& row : rows)
    if (lists(row.names, name)) return {row.flags, row.steps};
  throw Error(Errc::unsupported,
              "tokenizer.ggml.pre \"" + std::string(name) + "\" is not a pre-tokenizer that is known",
              Fault::unsupported, "tokenizer.ggml.pre");
}

}  // namespace inlay::text

// Special tokens that a file does not name, known by the texts that they usually have.
#include <algorithm>
#include <initializer_list>

#include "text/vocabulary.hpp"

namespace inlay::text {
namespace {

using Texts = std::initializer_list<std::string_view>;

void make_control(Vocabulary& vocabulary, TokenId id) {
  if (vocabulary.type(id) != TokenType::control) vocabulary.types[static_cast<std::size_t>(id)] = TokenType::control;
}

void detect(Vocabulary& vocabulary, TokenId& role, Texts texts) {
  if (role >= 0) return;
  for (const std::string_view text : texts) {
    const auto id = vocabulary.table.find(text);
    if (!id) continue;
    role = *id;
    return make_control(vocabulary, *id);
  }
}

void detect_roles(Vocabulary& v) {
  detect(v, v.eot,
         {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<EOT>", "_<EOT>",
          "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>"});
  detect(v, v.eom, {"<|eom_id|>"});
  detect(v, v.fim_prefix,
         {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>",
          "<|prefix|>"});
  detect(v, v.fim_suffix,
         {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>",
          "<|suffix|>"});
  detect(v, v.fim_middle,
         {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>",
          "<|middle|>"});
  detect(v, v.fim_padding, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"});
  detect(v, v.fim_repository, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"});
  detect(v, v.fim_separator, {"<|file_sep|>"});
}

class Endings {
 public:
  explicit Endings(Vocabulary& vocabulary) : vocabulary_(vocabulary), ids_(vocabulary.end_of_generation) {}

  void add(TokenId id) {
    if (id >= 0 && std::find(ids_.begin(), ids_.end(), id) == ids_.end()) ids_.push_back(id);
  }
  void add(std::string_view text) {
    const auto id = vocabulary_.table.find(text);
    if (!id) return;
    add(*id);
    make_control(vocabulary_, *id);
  }
  bool has(std::string_view text) const {
    const auto id = vocabulary_.table.find(text);
    return id && std::find(ids_.begin(), ids_.end(), *id) != ids_.end();
  }
  void remove(std::string_view text, TokenType becomes) {
    const auto id = vocabulary_.table.find(text);
    if (!id || std::erase(ids_, *id) == 0) return;
    vocabulary_.types[static_cast<std::size_t>(*id)] = becomes;
  }

 private:
  Vocabulary& vocabulary_;
  std::pmr::vector<TokenId>& ids_;
};

void collect_endings(Vocabulary& v) {
  Endings endings(v);
  for (const TokenId id : {v.eos, v.eot, v.eom, v.fim_padding, v.fim_repository, v.fim_separator}) endings.add(id);
  for (const std::string_view text : Texts{"<|eot_id|>",
                                           "<|im_end|>",
                                           "<|end|>",
                                           "<|return|>",
                                           "<|call|>",
                                           "<|flush|>",
                                           "<|calls|>",
                                           "<end_of_turn>",
                                           "<|endoftext|>",
                                           "</s>",
                                           "<|eom_id|>",
                                           "<EOT>",
                                           "_<EOT>",
                                           "[EOT]",
                                           "[EOS]",
                                           "<|end_of_text|>",
                                           "<end_of_utterance>",
                                           "<eos>",
                                           "<turn|>",
                                           "<|tool_response>",
                                           "<｜end▁of▁sentence｜>",
                                           "[e~["})
    endings.add(text);
  // Where messages have several parts, <|end|> ends only one of them.
  if ((endings.has("<|return|>") && (endings.has("<|call|>") || endings.has("<|calls|>"))) ||
      (endings.has("<|calls|>") && endings.has("<|flush|>")))
    endings.remove("<|end|>", TokenType::marker);
  // Gemma 4 has an ordinary token with the text of an HTML tag.
  if (endings.has("<|tool_response>")) endings.remove("</s>", TokenType::normal);
  std::sort(v.end_of_generation.begin(), v.end_of_generation.end());
}

}  // namespace

void settle_special_tokens(Vocabulary& vocabulary) {
  detect_roles(vocabulary);
  collect_endings(vocabulary);
  if (vocabulary.file.text("general.architecture", "") != "gpt-oss") return;
  // The reader of this model's answers needs these; still, no text of a user's becomes one.
  for (const std::string_view text : Texts{"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})
    if (const auto id = vocabulary.table.find(text))
      vocabulary.types[static_cast<std::size_t>(*id)] = TokenType::marker;
}

}  // namespace inlay::text

// What tells the families of models apart when they are converted: data where they differ in data, a function for their
// keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conversion/json.hpp"
#include "conversion/metadata.hpp"

namespace inlay::inline v0::conversion {

// A tensor that the folder does not have: computed from the settings.
struct Extra {
  std::string name;
  std::vector<float> values;
};

class Shape;

struct Family {
  std::string_view model_class;   // as config.json names it under "architectures"
  std::string_view architecture;  // as GGUF files name it
  void (*describe)(const Shape&, Metadata&, std::vector<Extra>&);
  bool interleaves = false;     // rows of queries and keys change from halves of a head to pairs
  bool gemma = false;           // norms are stored less one; the head is the embedding; no space is put before a text
  bool norms_around = false;    // post_attention_layernorm is a norm behind attention, not before the feed-forward part
  bool marks_specials = false;  // only tokens that are marked as special are control tokens
  bool says_prefix = false;     // tokenizer_config.json says whether a space is put before a text
  bool nested =
      false;  // the model is a part of one that also sees: its settings are "text_config", its tensors prefixed
  std::int64_t end_of_turn = -1;
};

// The family of a config.json; throws Error{unsupported} naming the class.
const Family& find_family(const Json& config);

// The settings of the model itself: those of "text_config" where it is nested, and around it what that lacks.
Json settings_of(const Family& family, Json config);

// The name in GGUF files of a tensor; empty for those that are not needed. Throws Error{unsupported} for other names.
std::string tensor_name(const Family& family, std::string_view name);

// The keys of the architecture, and the tensors that come with them.
void describe(const Family& family, const Json& config, Metadata& metadata, std::vector<Extra>& extras);

}  // namespace inlay::inline v0::conversion

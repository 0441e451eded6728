// How the next token is chosen, and when a generation ends: plain recipes, no state.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "inlay/grammar.hpp"

namespace inlay {
inline namespace v0 {

using TokenId = std::int32_t;

enum class SamplerStep { penalties, top_k, top_p, min_p, temperature };

/// How the next token is chosen. A plain recipe: the running state (random
/// numbers, grammar position) belongs to the Generation that follows it.
/// Steps run in the order written here; one at its neutral value is skipped.
struct Sampler {
  Grammar grammar = {};  ///< first of all: forbid what may not follow
  /// Then: change logits as you like. `so_far` is every token of the session. Called on the thread that asks for the
  /// token.
  std::function<void(std::span<float> logits, std::span<const TokenId> so_far)> adjust = {};
  float repeat_penalty = 1;  ///< logit > 0: divided by it, else multiplied (Keskar et al. 2019); 1: none
  int repeat_window = 64;    ///< tokens looked back at; 0: none, -1: all
  int top_k = 40;            ///< keep the k likeliest; 0: all
  float top_p = 0.95f;       ///< keep the likeliest that together reach this probability (Holtzman et al. 2019); 1: all
  float min_p = 0.05f;       ///< keep those with at least this fraction of the likeliest's probability; 0: all
  float temperature = 0.8f;  ///< logits are divided by it; 0: always the likeliest token
  std::optional<std::uint64_t> seed = {};  ///< none: a fresh one each time
  /// Empty: penalties, top_k, top_p, min_p, temperature. New steps are inserted, never moved.
  std::vector<SamplerStep> order = {};

  static Sampler greedy() { return {.temperature = 0}; }
};

/// When a generation ends, besides the model's own end of text.
struct Limits {
  int tokens = -1;                          ///< -1: while the context has room
  std::vector<std::string> stop = {};       ///< ends before the first of these; never emitted, not even in part
  std::stop_token cancel = {};              ///< seen between layers, from any thread
  std::chrono::milliseconds deadline = {};  ///< from the call, the reading of the prompt included; 0: none
  int top_logprobs = 0;                     ///< alternatives reported with each token
  bool parse_specials = false;              ///< true: text that spells a control token becomes that token
  bool ignore_end = false;                  ///< true: the model's end-of-text tokens do not end the generation
  std::function<void(int done, int of)> progress = {};  ///< while the prompt is read, in tokens
};

/// Why a generation ended. The session keeps every token the model has read; after stop_text, Generation::text_end() is
/// where the shown text ended.
enum class Finish { running, end_of_text, stop_text, constraint_done, token_limit, context_full, deadline, cancelled };

}  // namespace v0
}  // namespace inlay

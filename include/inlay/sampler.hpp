// How the next token is chosen, and when a generation ends: plain recipes, no state.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/grammar.hpp"

namespace inlay {
inline namespace v0 {

using TokenId = std::int32_t;

/// The steps of a Sampler, in their usual order; only infill has no place in it.
enum class SamplerStep {
  bias,
  penalties,
  dry,
  top_n_sigma,
  top_k,
  typical_p,
  top_p,
  min_p,
  xtc,
  infill,  ///< fills in the middle: ends the text where that is likely, else joins tokens that begin alike. After top_k
  temperature
};

/// Something added to the logit of one token; -infinity forbids it.
struct TokenBias {
  TokenId id = -1;
  float logit = 0;
};

/// How the next token is chosen. A plain recipe: the running state (random
/// numbers, grammar position) belongs to the Generation that follows it.
/// Steps run in the order written here; one at its neutral value is skipped.
/// With mirostat only bias and temperature run before it. New fields are inserted, never moved.
struct Sampler {
  Grammar grammar = {};  ///< first of all: forbid what may not follow
  /// Then: change logits as you like. `so_far` is every token of the session. Called on the thread that asks for the
  /// token.
  std::function<void(std::span<float> logits, std::span<const TokenId> so_far)> adjust = {};
  std::vector<TokenBias> bias = {};
  float repeat_penalty = 1;     ///< logit > 0: divided by it, else multiplied (Keskar et al. 2019); 1: none
  float frequency_penalty = 0;  ///< subtracted for each time the token was said
  float presence_penalty = 0;   ///< subtracted once if the token was said
  int repeat_window = 64;       ///< tokens looked back at by the three penalties; 0: none, -1: all
  /// DRY: a token that would repeat a sequence of n tokens loses multiplier * base^(n - allowed); 0: off.
  float dry_multiplier = 0;
  float dry_base = 1.75f;
  int dry_allowed = 2;                                             ///< shorter repetitions are let through
  int dry_window = 64;                                             ///< tokens looked back at; 0: none, -1: all
  std::vector<std::string> dry_breakers = {"\n", ":", "\"", "*"};  ///< no repetition reaches over one of these
  float top_n_sigma = 0;  ///< forbid logits this many standard deviations below the largest; 0: none
  int top_k = 40;         ///< keep the k likeliest; 0: all
  float typical_p = 1;    ///< keep the tokens of the most expected surprise up to this probability; 1: all
  float top_p = 0.95f;    ///< keep the likeliest that together reach this probability (Holtzman et al. 2019); 1: all
  float min_p = 0.05f;    ///< keep those with at least this fraction of the likeliest's probability; 0: all
  float xtc_probability = 0;    ///< how often the likeliest choices are excluded, all above the threshold but the last
  float xtc_threshold = 0.1f;   ///< above 0.5: never
  float temperature = 0.8f;     ///< logits are divided by it; 0: always the likeliest token
  float temperature_range = 0;  ///< the temperature moves by this much, by entropy; 0: it is fixed
  float temperature_exponent = 1;  ///< of the normalised entropy
  int mirostat = 0;                ///< 1 or 2: keep the text's surprise near tau, instead of a plain draw; 0: off
  float mirostat_tau = 5, mirostat_eta = 0.1f;  ///< bits a token; rate of learning
  float adaptive_target = -1;   ///< prefer tokens near this probability, instead of a plain draw; below 0: off
  float adaptive_decay = 0.9f;  ///< of the memory of probabilities chosen
  int min_keep = 0;             ///< typical_p, top_p, min_p and xtc leave at least this many
  std::optional<std::uint64_t> seed = {};  ///< none: a fresh one each time
  std::vector<SamplerStep> order = {};  ///< other steps, or in another order; empty: the usual ones. The draw is last

  static Sampler greedy() { return {.temperature = 0}; }
  /// The steps that will run, in their order, with their values. Throws Error{argument} for a value out of its range.
  INLAY_API std::string describe() const;
};

/// What a guard says of a text. redact: it is not shown; stop: nor is anything after it, and the generation ends.
enum class Verdict { allow, redact, stop };

/// Looks at a generation's text before anybody else does, on the thread that asks for tokens. What it throws ends the
/// generation. The session keeps the tokens of texts that were not shown.
struct Guard {
  /// The prompt, control tokens written out. Unless it is allowed, it is not read, and the generation has ended.
  std::function<Verdict(std::string_view prompt)> on_prompt = {};
  /// The newest text, none of which was shown: the last `window` bytes and what the latest token added to them.
  std::function<Verdict(std::string_view recent)> on_text = {};
  /// All the text at its end, redacted parts included; the verdict is on what was not shown yet.
  std::function<Verdict(std::string_view text)> on_finish = {};
  int window = 256;  ///< bytes that are held back for on_text and on_finish; -1: all of them, until the end
};

/// When a generation ends, besides the model's own end of text.
struct Limits {
  int tokens = -1;                     ///< -1: while the context has room
  std::vector<std::string> stop = {};  ///< ends before the first of these; never emitted, not even in part
  /// Seen from any thread, before each layer of a step and before its logits: at most one layer goes on, of 512 tokens.
  std::stop_token cancel = {};
  std::chrono::milliseconds deadline = {};  ///< from the call, the reading of the prompt included; 0: none
  int top_logprobs = 0;                     ///< alternatives reported with each token
  bool parse_specials = false;              ///< true: text that spells a control token becomes that token
  bool ignore_end = false;                  ///< true: the model's end-of-text tokens do not end the generation
  std::function<void(int done, int of)> progress = {};  ///< while the prompt is read, in tokens
  Guard guard = {};                                     ///< what may be shown, and read
};

/// Why a generation ended. The session keeps every token the model has read; after stop_text, Generation::text_end() is
/// where the shown text ended. guarded: a guard said stop.
enum class Finish {
  running,
  end_of_text,
  stop_text,
  constraint_done,
  token_limit,
  context_full,
  deadline,
  cancelled,
  guarded
};

}  // namespace v0
}  // namespace inlay

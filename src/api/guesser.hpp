// What guesses a session's next tokens: another model, or heads in the model's own file.
#pragma once

#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "runtime/sampling_candidates.hpp"

namespace inlay {
inline namespace v0 {

// Tokens that may come next, and others for where they go wrong: `side` instead of what stands behind the first `from`.
struct Guess {
  explicit Guess(std::pmr::memory_resource* memory) : tokens(memory), side(memory) {}
  void clear() noexcept { tokens.clear(), side.clear(), from = 0; }

  std::pmr::vector<TokenId> tokens;
  std::size_t from = 0;
  std::pmr::vector<TokenId> side;
};

// A guess put together from the logits of a model or of its heads, token by token.
class Forecast {
 public:
  Forecast(std::size_t most, Guess& guess);

  // Takes the likeliest token of these logits, and the next likeliest for a side; false: it is of no use, or the last.
  bool add(std::span<const float> logits);

 private:
  std::size_t most_;
  Guess& guess_;
  runtime::Maxima maxima_;  // of the logits
  runtime::CandidateList leading_;
  double chance_ = 1, side_chance_ = 0;
};

// All kinds of guessers are one interface: hidden() as the session reads, then follow() and guess() before a step. A
// smaller model (draft_model) needs only the tokens. Medusa's heads and ReDrafter's recurrent one begin with the last
// row of hidden(). EAGLE and blocks that predict later tokens (MTP) read each token with the row of the one before it,
// and keep a cache of their own. Those in the model's file are networks that an architecture's `heads` builds, and
// draft_heads runs them.
class Guesser {
 public:
  using Stop = std::function<bool()>;

  virtual ~Guesser() = default;
  virtual std::shared_ptr<Guesser> fork() const = 0;

  // What the model's last layer made of tokens[first], ... as they were read: [rows, width]. Only where that is asked
  // for. Tokens before may have changed meanwhile, and those between may be unknown.
  virtual bool wants_hidden() const noexcept { return false; }
  virtual void hidden(std::span<const TokenId> /*tokens*/, std::size_t /*first*/, std::span<const float> /*rows*/) {}

  // Gets ready to guess what comes after these tokens; false: it cannot. Throws what a step throws, as guess() does.
  virtual bool follow(std::span<const TokenId> tokens, const Stop& stop) = 0;
  // Fills an empty guess with at most so many tokens; less where it becomes unsure.
  virtual void guess(std::size_t count, const Stop& stop, Guess& guess) = 0;
};

}  // namespace v0
}  // namespace inlay

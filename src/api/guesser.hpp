// What guesses a session's next tokens: another model, or heads in the model's own file.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "inlay/sampler.hpp"

namespace inlay {
inline namespace v0 {

// Tokens that may come next, and others for where they go wrong: `side` instead of what stands behind the first `from`.
struct Guess {
  std::vector<TokenId> tokens = {};
  std::size_t from = 0;
  std::vector<TokenId> side = {};
};

// A guess put together from the logits of a model or of its heads, token by token.
class Forecast {
 public:
  explicit Forecast(std::size_t most) : most_(most) {}

  // Takes the likeliest token of these logits, and the next likeliest for a side; false: it is of no use, or the last.
  bool add(std::span<const float> logits);
  Guess& guess() noexcept { return guess_; }

 private:
  std::size_t most_;
  Guess guess_ = {};
  double chance_ = 1, side_chance_ = 0;
};

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
  virtual Guess guess(std::size_t count, const Stop& stop) = 0;  // at most so many tokens; less where it becomes unsure
};

}  // namespace v0
}  // namespace inlay

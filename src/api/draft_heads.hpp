// Heads in a model's own file that guess from what its last layer made of each token.
#pragma once

#include "api/guesser.hpp"
#include "runtime/engine.hpp"

namespace inlay {
inline namespace v0 {

// Heads that attend follow the session with a sequence of their own: its token i is the session's start_ + 1 + i, read
// with what the model made of the one before. It begins where that is known from: behind what other sessions had read.
class DraftHeads final : public Guesser {
 public:
  explicit DraftHeads(runtime::Engine& heads)
      : heads_(heads),
        width_(std::size_t(heads.given_width())),
        own_(runtime::Sequence().in(heads.memory())),
        rows_(heads.memory()),
        logits_(heads.memory()),
        last_row_(heads.memory()) {}
  ~DraftHeads() override { heads_.release(own_); }
  DraftHeads(const DraftHeads&) = delete;
  DraftHeads& operator=(const DraftHeads&) = delete;
  std::shared_ptr<Guesser> fork() const override;

  bool wants_hidden() const noexcept override { return true; }
  void hidden(std::span<const TokenId> tokens, std::size_t first, std::span<const float> rows) override;
  bool follow(std::span<const TokenId> tokens, const Stop& stop) override;
  void guess(std::size_t count, const Stop& stop, Guess& guess) override;

 private:
  std::size_t unread() const noexcept { return rows_.size() / width_; }
  std::size_t end() const noexcept { return start_ + own_.tokens.size() + unread(); }
  void restart(std::size_t at) noexcept;
  void read(std::span<const TokenId> tokens, const Stop& stop);
  void step(std::span<const TokenId> tokens, std::span<const float> given, const Stop& stop);

  runtime::Engine& heads_;
  std::size_t width_;
  runtime::Sequence own_;
  std::size_t start_ = 0;
  runtime::Engine::Rows rows_;               // of tokens behind those of own_, for which the next token is awaited
  runtime::Engine::Rows logits_, last_row_;  // of the last step
};

}  // namespace v0
}  // namespace inlay

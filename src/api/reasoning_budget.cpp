// Ends a model's reasoning when it has taken its tokens.
#include "api/reasoning_budget.hpp"

#include <algorithm>
#include <limits>

namespace inlay::api {
namespace {

constexpr std::size_t longest_tail = 256;

}  // namespace

ReasoningBudget::ReasoningBudget(const text::Tokenizer& tokenizer, const text::OutputFormat& format, bool within,
                                 std::size_t tokens)
    : tokenizer_(&tokenizer),
      begin_(format.reasoning_begin),
      end_(format.reasoning_end),
      ending_(tokenizer.encode(format.answer_begin(), {.parse_special = true})),
      starts_within_(within),
      most_(tokens) {
  restart();
}

void ReasoningBudget::restart() {
  within_ = starts_within_;
  read_ = spent_ = ended_ = 0;
  tail_.clear();
}

void ReasoningBudget::read(text::TokenId token) {
  ++read_;
  if (within_ && spent_ >= most_) {
    within_ = ++ended_ < ending_.size();
    tail_.clear();
    return;
  }
  if (within_) ++spent_;
  tokenizer_->append_piece(token, true, tail_);
  const auto& mark = within_ ? end_ : begin_;
  if (const auto found = tail_.find(mark); found != std::string::npos) {
    tail_.erase(0, found + mark.size());
    within_ = !within_;
  }
  if (tail_.size() > longest_tail) tail_.erase(0, tail_.size() - longest_tail);
}

void ReasoningBudget::operator()(std::span<float> logits, std::span<const text::TokenId> so_far) {
  if (first_ == SIZE_MAX) first_ = so_far.size();
  if (so_far.size() < first_ + read_) restart();  // some were taken back
  while (first_ + read_ < so_far.size()) read(so_far[first_ + read_]);
  if (!within_ || spent_ < most_ || ending_.empty()) return;
  const auto next = static_cast<std::size_t>(ending_[ended_]);
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (id != next) logits[id] = -std::numeric_limits<float>::infinity();
  }
  logits[next] = 0;  // whatever a grammar thinks of the way in which it is spelled
}

}  // namespace inlay::api

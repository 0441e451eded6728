// The tokens that may still be chosen: the whole vocabulary at first, then a list that steps cut and rescale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "inlay/sampler.hpp"

namespace inlay::runtime {

struct Candidate {
  TokenId id;
  float logit;
};

// Likeliest first; equal logits by id.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// The two passes over all logits, which the host may have in instructions of its own; sums of f32 in short runs suffice
// for six digits.
struct RowPasses {
  static constexpr std::size_t stretch = 64;
  // The largest of each stretch, the last of which may be shorter. False where one is NaN or +infinity.
  bool (*maxima)(const float* logits, std::int64_t count, float* largest) noexcept;
  double (*mass)(const float* logits, std::int64_t count, float top) noexcept;  // the sum of e^(logit - top)
};
extern const RowPasses plain_passes;

using CandidateList = std::pmr::vector<Candidate>;

// The largest of each stretch of logits, by which most of a vocabulary is passed over unread.
class Maxima {
 public:
  static constexpr std::size_t stretch = RowPasses::stretch;
  explicit Maxima(const RowPasses& passes = plain_passes,
                  std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : passes_(passes), maxima_(memory) {}

  // Throws Error{device} where the logits hold NaN or +infinity, Error{argument} where all are -infinity.
  void find(std::span<const float> logits);
  void find_again(std::span<const float> logits, std::size_t changed);
  float largest() const { return *std::max_element(maxima_.begin(), maxima_.end()); }
  // The k likeliest, likeliest first: a heap of the best so far, and stretches without a better one skipped.
  void likeliest(std::span<const float> logits, std::size_t k, CandidateList& best) const;
  // ln of the sum of e^logit, for log-probabilities; after find().
  double log_sum(std::span<const float> logits) const;

 private:
  RowPasses passes_;
  std::pmr::vector<float> maxima_;
};

double log_sum(std::span<const float> logits, const RowPasses& passes = plain_passes);

class Candidates {
 public:
  explicit Candidates(const RowPasses& passes = plain_passes,
                      std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : copy_(memory), maxima_(passes, memory), list_(memory) {}
  std::pmr::memory_resource* memory() const { return list_.get_allocator().resource(); }  // for what a step needs

  // All tokens, in order of their ids. `logits` must outlive the choice; a step that changes some changes a copy.
  // Throws as Maxima::find does. `known`, if any, has found them already.
  void start(std::span<const float> logits, const Maxima* known = nullptr);

  bool whole() const { return whole_; }
  std::size_t size() const { return whole_ ? logits_.size() : list_.size(); }
  std::size_t vocabulary() const { return logits_.size(); }
  double largest() const { return whole_ ? maxima_.largest() : list_.front().logit; }

  // f(id, logit) for each, in their order: by id while whole, likeliest first afterwards.
  template <class F>
  void each(F f) const {
    if (whole_)
      for (std::size_t i = 0; i < logits_.size(); ++i) f(TokenId(i), logits_[i]);
    else
      for (const auto& c : list_) f(c.id, c.logit);
  }
  // Changes every logit: logit = f(logit), which must keep their order.
  template <class F>
  void rescale(F f) {
    if (whole_)
      change([&](std::span<float> logits) {
        for (auto& logit : logits) logit = f(logit);
      });
    else
      for (auto& c : list_) c.logit = f(c.logit);
  }
  // Changes the logits of a whole vocabulary: f(logits).
  template <class F>
  void change(F f) {
    f(own());
    maxima_.find(logits_);
  }
  // Changes the logits of some: logit = f(logit, element) for the candidates with the id of an element. `elements` is
  // sorted by id, each id once.
  template <class Element, class F>
  void edit(std::span<const Element> elements, F f) {
    if (whole_) {
      const auto logits = own();
      for (const auto& e : elements) {
        if (e.id < 0 || std::size_t(e.id) >= logits.size()) continue;
        logits[std::size_t(e.id)] = f(logits[std::size_t(e.id)], e);
        maxima_.find_again(logits, std::size_t(e.id));
      }
      return;
    }
    for (auto& c : list_) {
      const auto e = std::lower_bound(elements.begin(), elements.end(), c.id,
                                      [](const Element& element, TokenId id) { return element.id < id; });
      if (e != elements.end() && e->id == c.id) c.logit = f(c.logit, *e);
    }
    std::sort(list_.begin(), list_.end(), before);
  }

  // The list, likeliest first, which from now on stands for the vocabulary. Never leave it empty.
  CandidateList& list();
  void keep_likeliest(std::size_t k);
  // The k likeliest of them, for a look: the next step still sees all.
  std::span<const Candidate> leading(std::size_t k);
  void keep_leading(std::size_t k);  // at most as many as the last leading() showed

  // The sum of e^(logit - largest()), in their order.
  double mass() const;

 private:
  std::span<float> own();  // a copy of the logits, which from now on are used

  std::span<const float> logits_;
  std::pmr::vector<float> copy_;
  Maxima maxima_;
  CandidateList list_;
  bool whole_ = true;
};

}  // namespace inlay::runtime

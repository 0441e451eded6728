// The end of a chain: the plain draw, and those that steer surprise or probability from token to token.
#pragma once

#include "runtime/random.hpp"
#include "runtime/sampling_candidates.hpp"

namespace inlay::runtime {

TokenId draw(const Candidates&, Random&);

// Keeps the surprise of the text near a target (Basu et al. 2021).
class Mirostat {
 public:
  Mirostat(int version, double tau, double eta) : version_(version), tau_(tau), eta_(eta), most_(2 * tau) {}
  void cut(Candidates&) const;
  TokenId choose(const Candidates&, Random&);  // of what cut() left

 private:
  std::size_t count(std::span<const double> p, double vocabulary) const;
  int version_;
  double tau_, eta_, most_;  // most_: the bound on surprise, in bits
};

// Prefers tokens whose probability is near a target, so that those chosen have it on average.
class Adaptive {
 public:
  Adaptive(double target, double decay, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  void reweigh(Candidates&);
  TokenId choose(const Candidates&, Random&);  // of what reweigh() left

 private:
  double target_, decay_, sum_, weight_;                   // sum_ / weight_: the average of the probabilities chosen
  std::pmr::vector<std::pair<TokenId, double>> original_;  // before they were weighed anew
};

}  // namespace inlay::runtime

// The formulas of the steps that cut or rescale candidates by their probabilities.
#pragma once

#include "runtime/random.hpp"
#include "runtime/sampling_candidates.hpp"

namespace inlay::runtime {

void cut_top_n_sigma(Candidates&, double n);
void cut_typical(Candidates&, double p, std::size_t min_keep);
void cut_top_p(Candidates&, double p, std::size_t min_keep);
void cut_min_p(Candidates&, double p, std::size_t min_keep);
void cut_xtc(Candidates&, double probability, double threshold, std::size_t min_keep, Random&);
void heat(Candidates&, double temperature);
void heat_by_entropy(Candidates&, double temperature, double range, double exponent);

// Probabilities of the candidates, in their order.
std::pmr::vector<double> probabilities(const Candidates&);

}  // namespace inlay::runtime

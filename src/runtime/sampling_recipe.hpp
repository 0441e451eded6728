// A sampler's recipe read: which steps run in which order, whether its numbers make sense, and how it is told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inlay/sampler.hpp"

namespace inlay::runtime {

// The steps that change something, in their order.
std::vector<SamplerStep> active_steps(const Sampler&);

std::string_view name(SamplerStep);  // as the field of the recipe is called

// Throws Error{argument} naming the field at fault.
void check(const Sampler&);

std::string describe(const Sampler&);

}  // namespace inlay::runtime

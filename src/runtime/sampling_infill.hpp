// Filling in the middle: whether the text should end here, and else one token for each way to go on.
#pragma once

#include "runtime/sampling_candidates.hpp"
#include "text/tokenizer.hpp"

namespace inlay::runtime {

void cut_infill(Candidates&, const text::Tokenizer&);

}  // namespace inlay::runtime

// What a saved sequence says of the model it was read by.
#pragma once

#include <cstdint>

#include "inlay/gguf.hpp"

namespace inlay::runtime {

// Tells models apart: by the names, types and shapes of all tensors, by samples of their data, and by what else cached
// keys depend on where a session may have `context` tokens.
std::uint64_t fingerprint(const gguf::File& file, int context);

}  // namespace inlay::runtime

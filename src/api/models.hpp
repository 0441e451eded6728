// The architectures that this library knows.
#pragma once

#include <span>

#include "inlay/nn/architecture.hpp"

namespace inlay::api {

// Looks in `own` first, and where the file says that its tokens see later ones, too, among decoders that were made
// encoders. Throws Error{unsupported} naming the unknown architecture and the nearest known one.
const nn::Architecture& find_architecture(std::string_view name, std::span<const nn::Architecture* const> own,
                                          bool causal = true);

}  // namespace inlay::api

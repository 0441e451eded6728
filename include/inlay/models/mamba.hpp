// Mamba and Falcon Mamba: layers of one selective state space each, and nothing else.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mamba(norm(x))
struct Mamba : nn::Decoder<nn::MixerLayer<nn::Mamba>> {
  static constexpr std::string_view name = "mamba";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

// Mamba 2: layers of one state space with a decay for each head.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mamba2(norm(x))
struct Mamba2 : nn::Decoder<nn::MixerLayer<nn::Mamba2>> {
  static constexpr std::string_view name = "mamba2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay

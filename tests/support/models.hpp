// The small trained model that every checkout has.
#pragma once

#include <string>

#include "inlay/inlay.hpp"
#include "tests/support/fixtures.hpp"

namespace support {

inline std::string nano() {
  return (data().parent_path().parent_path() / "examples/models/inlay-nano-q8_0.gguf").string();
}

inline inlay::Model load_nano(inlay::LoadOptions options = {}) {
  if (options.threads == 0) options.threads = 2;
  return inlay::Model::load(nano(), options);
}

}  // namespace support

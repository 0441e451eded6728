// The small trained model that every checkout has.
#pragma once

#include <string>
#include <vector>

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

// Instruction sets that run here and pack weights: the reference does not.
inline std::vector<std::string> packing_instruction_sets() {
  std::vector<std::string> usable;
  for (const char* isa :
       {"baseline", "avx2", "avx512", "avx512vnni", "avx512bf16", "avx512amx", "neon", "neon_dot", "neon_i8mm"}) {
    try {
      inlay::Model::plan(nano(), {.isa = isa});
      usable.push_back(isa);
    } catch (const inlay::Error&) {
    }
  }
  return usable;
}

}  // namespace support

// The tensors of the file to be written, each made from one that is stored, or computed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "conversion/checkpoint.hpp"
#include "conversion/family.hpp"
#include "gguf/write.hpp"
#include "inlay/convert.hpp"

namespace inlay::inline v0::conversion {

struct Output {
  std::string name;
  gguf::Type type;
  std::vector<std::int64_t> shape;
  const Stored* stored = nullptr;       // where the values are, and
  const base::Mapping* file = nullptr;  // in which file
  std::vector<float> values = {};       // or the values themselves
  std::int64_t interleaved_heads = 0;   // heads whose rows change from halves to pairs; 0: none do
  float shift = 0;                      // is added to each value
};

struct Plan {
  WeightType type;  // what `source` has become
  std::vector<Output> outputs;
  std::uint64_t values = 0;  // of all tensors
};

// What becomes of each tensor. Throws Error{format, unsupported} naming the tensor.
Plan plan_tensors(const Family& family, const Json& config, const Checkpoint& checkpoint, std::vector<Extra> extras,
                  WeightType type);

// Writes the data of one output, a few rows at a time; `done` is told how many values were written.
void write_tensor(const Output& output, gguf::Writer& writer, const std::function<void(std::uint64_t)>& done);

}  // namespace inlay::inline v0::conversion

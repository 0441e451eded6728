// Tensors that a model can do without, asked for in vain: where only some of its layers lack one, it was forgotten.
#pragma once

#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/gguf.hpp"

namespace inlay::runtime {

class Lacking {
 public:
  explicit Lacking(std::pmr::memory_resource* memory) : names_(memory) {}

  void note(std::string_view name) { names_.emplace_back(name); }
  // Throws Error{format, missing_tensor} where another layer has what one was asked for in vain.
  void check(const gguf::File& file) const;

 private:
  std::pmr::vector<std::pmr::string> names_;
};

}  // namespace inlay::runtime

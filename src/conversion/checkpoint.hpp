// All tensors of a folder: of model.safetensors, or of the parts that an index lists.
#pragma once

#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "conversion/folder.hpp"
#include "conversion/safetensors.hpp"

namespace inlay::inline v0::conversion {

class Checkpoint {
 public:
  // Throws Error{format} for a tensor that is there twice, or that the index lists and no part has.
  explicit Checkpoint(const Folder& folder);

  struct Part {
    base::Mapping file;
    std::vector<Stored> tensors;
  };
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

}  // namespace inlay::inline v0::conversion

// Copies of a model's folder that a test may change, and what became of converting them.
#pragma once

#include <filesystem>
#include <string>

#include "inlay/convert.hpp"
#include "inlay/gguf.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/folder.hpp"

namespace support {

inline std::string model_folder(const std::string& name) { return (data() / "conversion" / name).string(); }

// A folder for a copy of a model and for what becomes of it.
class Work : public Folder {
 public:
  void copy(const std::string& model) const {
    for (const auto& entry : std::filesystem::directory_iterator(model_folder(model))) {
      if (entry.path().extension() != ".gguf")
        std::filesystem::copy(entry.path(), file(entry.path().filename().string()));
    }
  }
};

}  // namespace support

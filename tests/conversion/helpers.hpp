// Copies of a model's folder that a test may change, and what became of converting them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "inlay/convert.hpp"
#include "inlay/gguf.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace support {

inline std::string model_folder(const std::string& name) { return (data() / "conversion" / name).string(); }

// A folder of its own, gone with the test.
class Work {
 public:
  explicit Work(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("inlay_conversion_" + name + "_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Work() {
    std::error_code unused;
    std::filesystem::remove_all(path_, unused);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  void copy(const std::string& model) const {
    for (const auto& entry : std::filesystem::directory_iterator(model_folder(model))) {
      if (entry.path().extension() != ".gguf") std::filesystem::copy(entry.path(), path_ / entry.path().filename());
    }
  }
  void write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary).write(content.data(), std::streamsize(content.size()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace support

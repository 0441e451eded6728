// A folder of a test's own, gone with it: no other process and no other test has it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace support {

class Folder {
 public:
  Folder() {
    std::random_device random;
    do path_ = std::filesystem::temp_directory_path() / ("inlay-test-" + std::to_string(random()));
    while (!std::filesystem::create_directory(path_));
  }
  ~Folder() {
    std::error_code unused;
    std::filesystem::remove_all(path_, unused);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_.string(); }
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  std::size_t files() const { return std::size_t(std::distance(std::filesystem::directory_iterator(path_), {})); }
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary).write(content.data(), std::streamsize(content.size()));
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace support

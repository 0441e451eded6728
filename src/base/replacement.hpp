// A file written aside that takes the place of another at once: whatever interrupts it, the old file or the new one is
// there, never another.
#pragma once

#include "base/system_file.hpp"

namespace inlay::base {

class Replacement {
 public:
  // `path` is UTF-8. The new file grows beside it under a name of its own. Throws std::system_error, as all here does.
  explicit Replacement(const std::string& path);
  ~Replacement();  // without a commit, nothing remains of the new file
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();  // once the disk holds the new file, it replaces the old one

 private:
  std::filesystem::path target_, aside_;
  SystemFile file_;
  std::uint64_t size_ = 0;
  bool done_ = false;
};

}  // namespace inlay::base

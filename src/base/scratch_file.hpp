// A nameless file for this process alone: it is gone when it is closed, however the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace inlay::base {

class ScratchFile {
 public:
  // In a folder, whose path is UTF-8. Throws std::system_error, as all here does.
  explicit ScratchFile(const std::string& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;  // all of them, or it throws

 private:
  std::intptr_t file_;
};

}  // namespace inlay::base

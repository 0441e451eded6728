// A file to write to and read from, by the system's own calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace inlay::base {

// What failed is a std::system_error.
class SystemFile {
 public:
  enum class Name { stays, goes };  // goes: the file is gone when it is closed, however the process ends

  SystemFile(const std::filesystem::path& path, Name name);  // a new one
  ~SystemFile() { close(); }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;  // all of them, or it throws
  void flush();                                                       // to the disk
  void close() noexcept;

 private:
  std::intptr_t file_;
};

std::filesystem::path path_of(const std::string& utf8);
// A name that no other process has, and no other object of this one.
std::string name_for(const void* object);
// A new name itself has to reach the disk, too. Some file systems cannot promise that; the file is right all the same.
void flush_folder(const std::filesystem::path& of) noexcept;

}  // namespace inlay::base

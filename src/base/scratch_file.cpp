// Opens, reads and writes a nameless file with the system's own calls: POSIX, and below it Windows.
#include "base/scratch_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace inlay::base {
namespace {

constexpr std::size_t most_at_once = std::size_t(1) << 30;

#ifndef _WIN32

[[noreturn]] void fail() { throw std::system_error(errno, std::generic_category()); }

long process() { return long(::getpid()); }

// Its name is taken away at once.
std::intptr_t create(const std::filesystem::path& path) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) fail();
  ::unlink(path.c_str());
  return descriptor;
}

std::size_t write_some(std::intptr_t file, std::uint64_t offset, std::span<const std::byte> bytes) {
  ssize_t count;
  do {
    count = ::pwrite(int(file), bytes.data(), std::min(bytes.size(), most_at_once), off_t(offset));
  } while (count < 0 && errno == EINTR);
  if (count < 0) fail();
  return std::size_t(count);
}

std::size_t read_some(std::intptr_t file, std::uint64_t offset, std::span<std::byte> bytes) {
  ssize_t count;
  do {
    count = ::pread(int(file), bytes.data(), std::min(bytes.size(), most_at_once), off_t(offset));
  } while (count < 0 && errno == EINTR);
  if (count < 0) fail();
  return std::size_t(count);
}

void close_file(std::intptr_t file) noexcept { ::close(int(file)); }

#else

[[noreturn]] void fail() { throw std::system_error(int(GetLastError()), std::system_category()); }

long process() { return long(GetCurrentProcessId()); }

HANDLE handle(std::intptr_t file) { return reinterpret_cast<HANDLE>(file); }

OVERLAPPED at(std::uint64_t offset) {
  OVERLAPPED place = {};
  place.Offset = DWORD(offset), place.OffsetHigh = DWORD(offset >> 32);
  return place;
}

std::intptr_t create(const std::filesystem::path& path) {
  const HANDLE file = CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                                  FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail();
  return reinterpret_cast<std::intptr_t>(file);
}

std::size_t write_some(std::intptr_t file, std::uint64_t offset, std::span<const std::byte> bytes) {
  DWORD count = 0;
  auto place = at(offset);
  if (!WriteFile(handle(file), bytes.data(), DWORD(std::min(bytes.size(), most_at_once)), &count, &place)) fail();
  return count;
}

std::size_t read_some(std::intptr_t file, std::uint64_t offset, std::span<std::byte> bytes) {
  DWORD count = 0;
  auto place = at(offset);
  if (!ReadFile(handle(file), bytes.data(), DWORD(std::min(bytes.size(), most_at_once)), &count, &place)) fail();
  return count;
}

void close_file(std::intptr_t file) noexcept { CloseHandle(handle(file)); }

#endif

}  // namespace

ScratchFile::ScratchFile(const std::string& folder) {
  if (folder.find('\0') != std::string::npos)
    throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory));
  // No other process has this number, and no other object of this one this address.
  const auto name =
      ".inlay-" + std::to_string(process()) + "-" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  file_ = create(std::filesystem::path(std::u8string(folder.begin(), folder.end())) / name);
}

ScratchFile::~ScratchFile() { close_file(file_); }

void ScratchFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = write_some(file_, offset, bytes);
    if (count == 0) throw std::system_error(std::make_error_code(std::errc::no_space_on_device));
    bytes = bytes.subspan(count), offset += count;
  }
}

void ScratchFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto count = read_some(file_, offset, bytes);
    if (count == 0) throw std::system_error(std::make_error_code(std::errc::io_error));  // it was cut
    bytes = bytes.subspan(count), offset += count;
  }
}

}  // namespace inlay::base

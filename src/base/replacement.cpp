// Writes and flushes files with the system's own calls: POSIX, and below it Windows.
#include "base/replacement.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

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

std::filesystem::path native(const std::string& utf8) { return std::u8string(utf8.begin(), utf8.end()); }

#ifndef _WIN32

[[noreturn]] void fail() { throw std::system_error(errno, std::generic_category()); }

long process() { return long(::getpid()); }

std::intptr_t create(const std::filesystem::path& path) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) fail();
  return descriptor;
}

std::size_t write_some(std::intptr_t file, std::span<const std::byte> bytes) {
  ssize_t count;
  do {
    count = ::write(int(file), bytes.data(), std::min(bytes.size(), most_at_once));
  } while (count < 0 && errno == EINTR);
  if (count < 0) fail();
  return std::size_t(count);
}

void flush(std::intptr_t file) {
  if (::fsync(int(file)) != 0) fail();
}

void close_file(std::intptr_t file) noexcept { ::close(int(file)); }

// The new name itself has to reach the disk too. Some file systems cannot promise that; the file is right all the same.
void flush_folder(const std::filesystem::path& of) noexcept {
  const int folder = ::open(of.has_parent_path() ? of.parent_path().c_str() : ".", O_RDONLY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

#else

[[noreturn]] void fail() { throw std::system_error(int(GetLastError()), std::system_category()); }

long process() { return long(GetCurrentProcessId()); }

HANDLE handle(std::intptr_t file) { return reinterpret_cast<HANDLE>(file); }

std::intptr_t create(const std::filesystem::path& path) {
  const HANDLE file = CreateFileW(path.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail();
  return reinterpret_cast<std::intptr_t>(file);
}

std::size_t write_some(std::intptr_t file, std::span<const std::byte> bytes) {
  DWORD count = 0;
  if (!WriteFile(handle(file), bytes.data(), DWORD(std::min(bytes.size(), most_at_once)), &count, nullptr)) fail();
  return count;
}

void flush(std::intptr_t file) {
  if (!FlushFileBuffers(handle(file))) fail();
}

void close_file(std::intptr_t file) noexcept { CloseHandle(handle(file)); }

void flush_folder(const std::filesystem::path&) noexcept {}

#endif

}  // namespace

Replacement::Replacement(const std::string& path) : target_(native(path)) {
  if (path.find('\0') != std::string::npos)
    throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory));
  // No other process has this number, and no other object of this one this address.
  const auto own = std::to_string(process()) + "-" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  aside_ = target_;
  aside_ += ".partial-" + own;
  std::error_code unused;
  std::filesystem::remove(aside_, unused);  // of a process that had the same number and was ended
  file_ = create(aside_);
}

void Replacement::close() noexcept {
  if (file_ != -1) close_file(std::exchange(file_, -1));
}

Replacement::~Replacement() {
  close();
  std::error_code unused;
  if (!done_) std::filesystem::remove(aside_, unused);
}

void Replacement::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) bytes = bytes.subspan(write_some(file_, bytes));
}

void Replacement::commit() {
  flush(file_);
  close();
  std::filesystem::rename(aside_, target_);
  done_ = true;
  flush_folder(target_);
}

}  // namespace inlay::base

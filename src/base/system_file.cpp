// Creates, reads, writes and flushes files with the calls of POSIX, and below them those of Windows.
#include "base/system_file.hpp"

#include <algorithm>
#include <cerrno>
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

[[noreturn]] void fail(std::errc code) { throw std::system_error(std::make_error_code(code)); }

#ifndef _WIN32

[[noreturn]] void fail_from_system() { throw std::system_error(errno, std::generic_category()); }

long process() { return long(::getpid()); }

// What `call` returns, which is below zero where it failed. A call that a signal interrupted is made again.
template <class Call>
auto checked(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  if (result < 0) fail_from_system();
  return result;
}

std::intptr_t create(const std::filesystem::path& path, SystemFile::Name name) {
  const bool stays = name == SystemFile::Name::stays;
  const int descriptor =
      checked([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, stays ? 0666 : 0600); });
  if (!stays) ::unlink(path.c_str());
  return descriptor;
}

std::size_t write_some(std::intptr_t file, std::uint64_t offset, std::span<const std::byte> bytes) {
  return std::size_t(checked([&] { return ::pwrite(int(file), bytes.data(), bytes.size(), off_t(offset)); }));
}

std::size_t read_some(std::intptr_t file, std::uint64_t offset, std::span<std::byte> bytes) {
  return std::size_t(checked([&] { return ::pread(int(file), bytes.data(), bytes.size(), off_t(offset)); }));
}

void flush_file(std::intptr_t file) {
  checked([&] { return ::fsync(int(file)); });
}

void close_file(std::intptr_t file) noexcept { ::close(int(file)); }

#else

[[noreturn]] void fail_from_system() { throw std::system_error(int(GetLastError()), std::system_category()); }

long process() { return long(GetCurrentProcessId()); }

HANDLE handle(std::intptr_t file) { return reinterpret_cast<HANDLE>(file); }

OVERLAPPED at(std::uint64_t offset) {
  OVERLAPPED place = {};
  place.Offset = DWORD(offset), place.OffsetHigh = DWORD(offset >> 32);
  return place;
}

std::intptr_t create(const std::filesystem::path& path, SystemFile::Name name) {
  const DWORD kind =
      name == SystemFile::Name::stays ? FILE_ATTRIBUTE_NORMAL : FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
  const HANDLE file = CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_NEW, kind, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail_from_system();
  return reinterpret_cast<std::intptr_t>(file);
}

std::size_t write_some(std::intptr_t file, std::uint64_t offset, std::span<const std::byte> bytes) {
  DWORD count = 0;
  auto place = at(offset);
  if (!WriteFile(handle(file), bytes.data(), DWORD(bytes.size()), &count, &place)) fail_from_system();
  return count;
}

std::size_t read_some(std::intptr_t file, std::uint64_t offset, std::span<std::byte> bytes) {
  DWORD count = 0;
  auto place = at(offset);
  if (!ReadFile(handle(file), bytes.data(), DWORD(bytes.size()), &count, &place)) fail_from_system();
  return count;
}

void flush_file(std::intptr_t file) {
  if (!FlushFileBuffers(handle(file))) fail_from_system();
}

void close_file(std::intptr_t file) noexcept { CloseHandle(handle(file)); }

#endif

}  // namespace

SystemFile::SystemFile(const std::filesystem::path& path, Name name) : file_(create(path, name)) {}

void SystemFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = write_some(file_, offset, bytes.first(std::min(bytes.size(), most_at_once)));
    if (count == 0) fail(std::errc::no_space_on_device);
    bytes = bytes.subspan(count), offset += count;
  }
}

void SystemFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto count = read_some(file_, offset, bytes.first(std::min(bytes.size(), most_at_once)));
    if (count == 0) fail(std::errc::io_error);  // it was cut
    bytes = bytes.subspan(count), offset += count;
  }
}

void SystemFile::flush() { flush_file(file_); }

void SystemFile::close() noexcept {
  if (file_ != -1) close_file(std::exchange(file_, -1));
}

std::filesystem::path path_of(const std::string& utf8) {
  if (utf8.find('\0') != std::string::npos) fail(std::errc::no_such_file_or_directory);
  return std::u8string(utf8.begin(), utf8.end());
}

std::string name_for(const void* object) {
  return std::to_string(process()) + "-" + std::to_string(reinterpret_cast<std::uintptr_t>(object));
}

void flush_folder(const std::filesystem::path& of) noexcept {
#ifndef _WIN32
  const int folder = ::open(of.has_parent_path() ? of.parent_path().c_str() : ".", O_RDONLY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
#else
  (void)of;
#endif
}

}  // namespace inlay::base

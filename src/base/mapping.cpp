// Maps files through mmap, and on Windows through a file mapping object.
#include "base/mapping.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace inlay::base {
namespace {

[[noreturn]] void fail(std::errc code) { throw std::system_error(std::make_error_code(code)); }

std::size_t checked_size(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(PTRDIFF_MAX)) fail(std::errc::file_too_large);
  return static_cast<std::size_t>(size);
}

#ifdef _WIN32

[[noreturn]] void fail_from_system() {
  throw std::system_error(static_cast<int>(GetLastError()), std::system_category());
}

struct Handle {
  HANDLE value;
  ~Handle() {
    if (value != nullptr && value != INVALID_HANDLE_VALUE) CloseHandle(value);
  }
};

std::wstring wide(const std::string& utf8) {
  const int bytes = static_cast<int>(utf8.size());
  const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), bytes, nullptr, 0);
  if (units == 0) fail(std::errc::no_such_file_or_directory);
  std::wstring converted(static_cast<std::size_t>(units), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), bytes, converted.data(), units);
  return converted;
}

std::span<const std::byte> map(const std::string& path, const Mapping::Probe& before_call) {
  before_call();
  const Handle file{CreateFileW(wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                                FILE_ATTRIBUTE_NORMAL, nullptr)};
  if (file.value == INVALID_HANDLE_VALUE) fail_from_system();
  before_call();
  LARGE_INTEGER length;
  if (!GetFileSizeEx(file.value, &length)) fail_from_system();
  const std::size_t size = checked_size(static_cast<std::uint64_t>(length.QuadPart));
  if (size == 0) return {};
  before_call();
  const Handle mapping{CreateFileMappingW(file.value, nullptr, PAGE_READONLY, 0, 0, nullptr)};
  if (mapping.value == nullptr) fail_from_system();
  before_call();
  const void* start = MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, size);
  if (start == nullptr) fail_from_system();
  return {static_cast<const std::byte*>(start), size};
}

void unmap(std::span<const std::byte> content) noexcept { UnmapViewOfFile(content.data()); }

void drop_pages(std::span<const std::byte>) noexcept {}  // the system trims mapped pages by itself

#else

[[noreturn]] void fail_from_system() { throw std::system_error(errno, std::generic_category()); }

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

int open_read_only(const char* path) {
  int descriptor;
  do {
    descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // O_NONBLOCK: a pipe must not make us wait
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

std::span<const std::byte> map(const std::string& path, const Mapping::Probe& before_call) {
  before_call();
  const Descriptor file{open_read_only(path.c_str())};
  if (file.value < 0) fail_from_system();
  before_call();
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail_from_system();
  if (S_ISDIR(status.st_mode)) fail(std::errc::is_a_directory);
  if (!S_ISREG(status.st_mode)) fail(std::errc::not_supported);
  const std::size_t size = checked_size(static_cast<std::uint64_t>(status.st_size));
  if (size == 0) return {};
  before_call();
  const void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (start == MAP_FAILED) fail_from_system();
  return {static_cast<const std::byte*>(start), size};
}

void unmap(std::span<const std::byte> content) noexcept {
  ::munmap(const_cast<std::byte*>(content.data()), content.size());
}

void drop_pages(std::span<const std::byte> part) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t last = (address + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

#endif

}  // namespace

Mapping Mapping::open(const std::string& path, const Probe& probe) {
  if (path.find('\0') != std::string::npos) fail(std::errc::no_such_file_or_directory);
  return Mapping(map(
      path, probe ? probe : [] {}));
}

Mapping::~Mapping() {
  if (!content_.empty()) unmap(content_);
}

void Mapping::drop(std::span<const std::byte> part) const noexcept {
  const std::less_equal<const std::byte*> not_after;
  const bool inside = not_after(content_.data(), part.data()) &&
                      not_after(part.data() + part.size(), content_.data() + content_.size());
  if (inside) drop_pages(part);
}

}  // namespace inlay::base

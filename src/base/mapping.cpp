// Maps and reads files with the system's own calls: POSIX, and below it Windows.
#include "base/mapping.hpp"

#include <algorithm>
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

constexpr std::size_t max_read = 1 << 30;  // at once

[[noreturn]] void fail(std::errc code) { throw std::system_error(std::make_error_code(code)); }

std::size_t checked_size(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(PTRDIFF_MAX)) fail(std::errc::file_too_large);
  return static_cast<std::size_t>(size);
}

#ifndef _WIN32

[[noreturn]] void fail_from_system() { throw std::system_error(errno, std::generic_category()); }

// A file opened for reading.
struct OpenFile {
  int descriptor;

  explicit OpenFile(const std::string& path) {
    do {
      descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not make us wait
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) fail_from_system();
  }
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor); }

  std::size_t size() const {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) fail_from_system();
    if (S_ISDIR(status.st_mode)) fail(std::errc::is_a_directory);
    if (!S_ISREG(status.st_mode)) fail(std::errc::not_supported);
    return checked_size(static_cast<std::uint64_t>(status.st_size));
  }

  std::size_t read(std::span<std::byte> into) const {
    ssize_t count;
    do {
      count = ::read(descriptor, into.data(), std::min(into.size(), max_read));
    } while (count < 0 && errno == EINTR);
    if (count < 0) fail_from_system();
    return static_cast<std::size_t>(count);
  }
};

std::span<std::byte> pages(int protection, int flags, int descriptor, std::size_t size) {
  void* start = ::mmap(nullptr, size, protection, MAP_PRIVATE | flags, descriptor, 0);
  if (start == MAP_FAILED) fail_from_system();
  return {static_cast<std::byte*>(start), size};
}

std::span<std::byte> map(const OpenFile& file, std::size_t size) { return pages(PROT_READ, 0, file.descriptor, size); }

std::span<std::byte> allocate(std::size_t size) { return pages(PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1, size); }

void release(Mapping::Way, std::span<std::byte> content) noexcept { ::munmap(content.data(), content.size()); }

void drop_pages(std::span<const std::byte> part) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t last = (address + part.size()) / page * page;
  auto* const begin = const_cast<std::byte*>(part.data()) + (first - address);
  if (first < last) ::madvise(begin, last - first, MADV_DONTNEED);
}

#else

[[noreturn]] void fail_from_system() {
  throw std::system_error(static_cast<int>(GetLastError()), std::system_category());
}

std::wstring wide(const std::string& utf8) {
  const int bytes = static_cast<int>(utf8.size());
  const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), bytes, nullptr, 0);
  if (units == 0) fail(std::errc::no_such_file_or_directory);
  std::wstring converted(static_cast<std::size_t>(units), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), bytes, converted.data(), units);
  return converted;
}

struct OpenFile {
  HANDLE handle;

  explicit OpenFile(const std::string& path)
      : handle(CreateFileW(wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                           FILE_ATTRIBUTE_NORMAL, nullptr)) {
    if (handle == INVALID_HANDLE_VALUE) fail_from_system();
  }
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() { CloseHandle(handle); }

  std::size_t size() const {
    LARGE_INTEGER length;
    if (!GetFileSizeEx(handle, &length)) fail_from_system();
    return checked_size(static_cast<std::uint64_t>(length.QuadPart));
  }

  std::size_t read(std::span<std::byte> into) const {
    DWORD count = 0;
    const auto wanted = static_cast<DWORD>(std::min(into.size(), max_read));
    if (!ReadFile(handle, into.data(), wanted, &count, nullptr)) fail_from_system();
    return count;
  }
};

std::span<std::byte> map(const OpenFile& file, std::size_t size) {
  const HANDLE mapping = CreateFileMappingW(file.handle, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) fail_from_system();
  void* start = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
  CloseHandle(mapping);  // the view keeps it
  if (start == nullptr) fail_from_system();
  return {static_cast<std::byte*>(start), size};
}

std::span<std::byte> allocate(std::size_t size) {
  void* start = VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (start == nullptr) fail_from_system();
  return {static_cast<std::byte*>(start), size};
}

void release(Mapping::Way way, std::span<std::byte> content) noexcept {
  if (way == Mapping::Way::map) {
    UnmapViewOfFile(content.data());
  } else {
    VirtualFree(content.data(), 0, MEM_RELEASE);
  }
}

void drop_pages(std::span<const std::byte>) noexcept {}  // the system trims mapped pages by itself

#endif

}  // namespace

Mapping Mapping::open(const std::string& path, Way way, const Probe& probe) {
  const auto before_call = [&] {
    if (probe) probe();
  };
  if (path.find('\0') != std::string::npos) fail(std::errc::no_such_file_or_directory);
  before_call();
  const OpenFile file(path);
  before_call();
  const std::size_t size = file.size();
  if (size == 0) return Mapping(way, {});
  before_call();
  if (way == Way::map) return Mapping(way, map(file, size));
  Mapping copy(way, allocate(size));
  for (auto rest = copy.content_; !rest.empty();) {
    before_call();
    const std::size_t count = file.read(rest);
    if (count == 0) fail(std::errc::io_error);  // the file has become shorter
    rest = rest.subspan(count);
  }
  return copy;
}

Mapping::~Mapping() {
  if (!content_.empty()) release(way_, content_);
}

void Mapping::drop(std::span<const std::byte> part) const noexcept {
  const std::less_equal<const std::byte*> not_after;
  const bool inside = not_after(content_.data(), part.data()) &&
                      not_after(part.data() + part.size(), content_.data() + content_.size());
  if (inside && way_ == Way::map) drop_pages(part);
}

}  // namespace inlay::base

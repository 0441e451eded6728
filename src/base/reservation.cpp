// Reserves, commits and decommits addresses with the calls of POSIX, and below them those of Windows.
#include "base/reservation.hpp"

#include <new>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace inlay::base {

#ifndef _WIN32

Reservation::Reservation(std::size_t bytes) : bytes_(bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
  flags |= MAP_NORESERVE;
#endif
  void* start = ::mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  start_ = static_cast<std::byte*>(start);
#ifdef MADV_HUGEPAGE
  ::madvise(start, bytes, MADV_HUGEPAGE);  // one lies only where all of it is committed
#endif
}

Reservation::~Reservation() {
  if (start_) ::munmap(start_, bytes_);
}

std::size_t Reservation::granularity() noexcept { return std::size_t(::sysconf(_SC_PAGESIZE)); }

void Reservation::commit(std::size_t offset, std::size_t bytes) {
  if (::mprotect(start_ + offset, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
}

void Reservation::decommit(std::size_t offset, std::size_t bytes) noexcept {
  ::madvise(start_ + offset, bytes, MADV_DONTNEED);
  ::mprotect(start_ + offset, bytes, PROT_NONE);
#ifdef __APPLE__
  ::madvise(start_ + offset, bytes, MADV_FREE);  // which takes there what the other only lets go when memory is short
#endif
}

#else

Reservation::Reservation(std::size_t bytes) : bytes_(bytes) {
  start_ = static_cast<std::byte*>(VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS));
  if (!start_) throw std::bad_alloc();
}

Reservation::~Reservation() {
  if (start_) VirtualFree(start_, 0, MEM_RELEASE);
}

std::size_t Reservation::granularity() noexcept {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

void Reservation::commit(std::size_t offset, std::size_t bytes) {
  if (!VirtualAlloc(start_ + offset, bytes, MEM_COMMIT, PAGE_READWRITE)) throw std::bad_alloc();
}

void Reservation::decommit(std::size_t offset, std::size_t bytes) noexcept {
  VirtualFree(start_ + offset, bytes, MEM_DECOMMIT);
}

#endif

}  // namespace inlay::base

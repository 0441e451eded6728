// Asks the operating system what the process may use.
#include "base/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#ifdef __linux__
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace inlay::base {
namespace {

#ifdef __linux__

// The first bytes of a small file of the system, as text; empty where there is none.
struct SystemFile {
  char text[512] = {};

  explicit SystemFile(const char* path) noexcept {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "r"), std::fclose);
    if (file) text[std::fread(text, 1, sizeof text - 1, file.get())] = 0;
  }
};

// The number that a text starts with; -1: none.
long long leading_number(const char* text) noexcept {
  long long value = -1;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

constexpr int no_quota = 1 << 20;

int cores_of(long long quota, long long period) noexcept {
  if (quota <= 0 || period <= 0) return no_quota;
  return static_cast<int>(std::clamp<long long>((quota + period - 1) / period, 1, no_quota));
}

int second_version_quota() noexcept {
  SystemFile groups("/proc/self/cgroup");
  char* group = std::strstr(groups.text, "0::/");
  if (!group) return no_quota;
  group += std::strlen("0::");
  group[std::strcspn(group, "\n")] = 0;
  int cores = no_quota;
  for (char* end = group + std::strlen(group); end; end = std::strrchr(group, '/')) {  // the group and those above it
    *end = 0;
    char path[sizeof groups.text + 32];
    std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    const SystemFile limit(path);
    if (const char* gap = std::strchr(limit.text, ' ')) {
      cores = std::min(cores, cores_of(leading_number(limit.text), leading_number(gap + 1)));
    }
  }
  return cores;
}

// Cores' worth of time that the control groups of this process allow it, in either version.
int quota_cores() noexcept {
  const SystemFile quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return std::min(second_version_quota(), cores_of(leading_number(quota.text), leading_number(period.text)));
}

// A processor counts if it is the first in its list of siblings that this process may use.
bool is_first_sibling(int processor, const cpu_set_t& allowed) noexcept {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor);
  const SystemFile siblings(path);
  for (const char* at = siblings.text; *at >= '0' && *at <= '9';) {
    long long first = 0, last = 0;
    const char* end = siblings.text + std::strlen(siblings.text);
    at = std::from_chars(at, end, first).ptr;
    last = first;
    if (*at == '-') at = std::from_chars(at + 1, end, last).ptr;
    for (long long i = first; i <= last && i < processor; ++i) {
      if (i < CPU_SETSIZE && CPU_ISSET(static_cast<int>(i), &allowed)) return false;
    }
    if (*at != ',') break;
    ++at;
  }
  return true;
}

int allowed_cores() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return static_cast<int>(std::thread::hardware_concurrency());
  int cores = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i) cores += CPU_ISSET(i, &allowed) && is_first_sibling(i, allowed);
  return cores;
}

#endif

}  // namespace

int usable_cores() noexcept {
#ifdef __linux__
  return std::max(1, std::min(allowed_cores(), quota_cores()));
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

bool has_half_conversion() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
#else
  return true;
#endif
}

bool may_use_tiles() noexcept {
#if defined(__x86_64__) && defined(__linux__) && defined(SYS_arch_prctl)
  constexpr unsigned tiles = 1u << 24, bytes = 1u << 25;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & tiles) == 0 || (d & bytes) == 0) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

bool has_dot_product() noexcept {
#if defined(__aarch64__) && defined(__linux__)
  return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#else
  return false;
#endif
}

bool has_matrix_product() noexcept {
#if defined(__aarch64__) && defined(__linux__)
  return getauxval(AT_HWCAP2) & HWCAP2_I8MM;
#else
  return false;
#endif
}

void prefer_large_pages(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto start = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (start < end) madvise(static_cast<std::byte*>(memory) + (start - address), end - start, MADV_HUGEPAGE);
#else
  static_cast<void>(memory), static_cast<void>(bytes);
#endif
}

}  // namespace inlay::base

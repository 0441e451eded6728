// Probes of the machine's memory.
#include "cli/machine.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace cli {
namespace {

constexpr std::size_t bytes_each = std::size_t{128} << 20;  // far more than a thread's share of a cache

// Asks for what lies ahead, as kernels do: some processors' own foresight is slower.
void read(const std::byte* memory) {
  using Line = std::uint64_t __attribute__((vector_size(64)));
  constexpr std::size_t ahead = 32;  // lines
  const auto* lines = reinterpret_cast<const Line*>(memory);
  Line sums[2] = {};
  for (std::size_t i = 0; i < bytes_each / sizeof(Line); i += 2) {
    __builtin_prefetch(lines + i + ahead);
    __builtin_prefetch(lines + i + ahead + 1);
    sums[0] += lines[i];
    sums[1] += lines[i + 1];
  }
  asm volatile("" ::"m"(sums));
}

}  // namespace

ReadProbe::ReadProbe(int threads) {
  for (int i = 0; i < std::max(threads, 1); ++i) {
    auto* memory = static_cast<std::byte*>(::operator new[](bytes_each, alignment));
    memory_.emplace_back(memory);
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes_each, MADV_HUGEPAGE);  // as the weights have it
#endif
    std::fill_n(memory, bytes_each, std::byte{1});
  }
}

double ReadProbe::operator()() {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::jthread> team;
    for (const auto& memory : memory_) team.emplace_back([&memory] { read(memory.get()); });
    team.clear();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(memory_.size() * bytes_each) / best;
}

std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace cli

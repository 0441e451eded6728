// Probes of the machine.
#include "cli/machine.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace cli {
namespace {

constexpr std::size_t words_each = std::size_t{16} << 20;  // of 8 bytes: far more than a cache holds
constexpr std::size_t streams = 16;

std::uint64_t read(const std::uint64_t* words) {
  std::uint64_t sums[streams] = {};
  for (std::size_t i = 0; i < words_each; i += streams) {
    for (std::size_t lane = 0; lane < streams; ++lane) sums[lane] ^= words[i + lane];
  }
  return *std::max_element(std::begin(sums), std::end(sums));
}

}  // namespace

ReadProbe::ReadProbe(int threads) {
  constexpr std::size_t bytes = words_each * sizeof(std::uint64_t);
  for (int i = 0; i < std::max(threads, 1); ++i) {
    auto* words = static_cast<std::uint64_t*>(::operator new[](bytes, alignment));
    memory_.emplace_back(words);
#ifdef MADV_HUGEPAGE
    madvise(words, bytes, MADV_HUGEPAGE);  // as the weights have it
#endif
    std::fill_n(words, words_each, 1);
  }
}

double ReadProbe::operator()() {
  std::vector<std::uint64_t> results(memory_.size());
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::jthread> team;
    for (std::size_t i = 0; i < memory_.size(); ++i)
      team.emplace_back([&, i] { results[i] += read(memory_[i].get()); });
    team.clear();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return double(memory_.size() * words_each * sizeof(std::uint64_t)) / best;
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

// Probes of the machine's products: each instruction by itself on registers that do not depend on each other. In
// assembly, so that no compiler can choose other instructions and no flags are needed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <thread>
#include <vector>

#include "cli/machine.hpp"

namespace cli {
namespace {

constexpr int repeats = 10, rounds = 200'000;  // of an instruction in a loop, and of the loop

double seconds_of(void (*act)()) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#define INLAY_TIMES(text)                                                                              \
  [] {                                                                                                 \
    for (int i = 0; i < rounds; ++i)                                                                   \
      asm volatile(text(2) text(3) text(4) text(5) text(6) text(7) text(8) text(9) text(10) text(11):: \
                       : INLAY_CLOBBERED);                                                             \
  }

#if defined(__x86_64__)
#define INLAY_CLOBBERED "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define INLAY_VNNI(r) "vpdpbusd %%zmm0, %%zmm1, %%zmm" #r "\n"
#define INLAY_BYTES_512(r) "vpmaddubsw %%zmm0, %%zmm1, %%zmm" #r "\n"
#define INLAY_BYTES_256(r) "vpmaddubsw %%ymm0, %%ymm1, %%ymm" #r "\n"
#define INLAY_WORDS(r) "pmaddwd %%xmm0, %%xmm" #r "\n"
#define INLAY_BFLOATS(r) "vdpbf16ps %%zmm0, %%zmm1, %%zmm" #r "\n"
#define INLAY_FLOATS_512(r) "vfmadd231ps %%zmm0, %%zmm1, %%zmm" #r "\n"
#define INLAY_FLOATS_256(r) "vfmadd231ps %%ymm0, %%ymm1, %%ymm" #r "\n"
#define INLAY_FLOATS_128(r) "mulps %%xmm0, %%xmm" #r "\n"

// Tiles of 16 rows and 64 bytes, as large as they come. Only four can be sums beside two factors' pairs.
void multiply_tiles() {
  struct alignas(64) {
    std::uint8_t palette = 1, start = 0, unused[14] = {};
    std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } static constexpr shapes;
  asm volatile("ldtilecfg %0" ::"m"(shapes));
  for (int i = 0; i < rounds / 10; ++i) {
    asm volatile(
        "tdpbssd %tmm0, %tmm1, %tmm2\n tdpbssd %tmm0, %tmm1, %tmm3\n tdpbssd %tmm0, %tmm1, %tmm4\n"
        "tdpbssd %tmm0, %tmm1, %tmm5\n tdpbssd %tmm0, %tmm1, %tmm6\n");
  }
  asm volatile("tilerelease");
}

#else
#define INLAY_CLOBBERED "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"
#define INLAY_DOT(r) "sdot v" #r ".4s, v0.16b, v1.16b\n"
#define INLAY_LONG(r) "smull v" #r ".8h, v0.8b, v1.8b\n"
#define INLAY_FLOATS(r) "fmla v" #r ".4s, v0.4s, v1.4s\n"
#endif

struct Instruction {
  std::string_view isa;  // and all whose names begin so, if no row before is theirs
  Numbers numbers;
  void (*loop)();
  double operations;  // of a whole loop
};

constexpr double all = double{repeats} * rounds;
const Instruction instructions[] = {
#if defined(__x86_64__)
    {"avx512amx", Numbers::bytes, multiply_tiles, 5.0 * rounds / 10 * 2 * 16 * 16 * 64},
    {"avx512vnni", Numbers::bytes, INLAY_TIMES(INLAY_VNNI), all * 128},
    {"avx512bf16", Numbers::bytes, INLAY_TIMES(INLAY_VNNI), all * 128},
    {"avx512", Numbers::bytes, INLAY_TIMES(INLAY_BYTES_512), all * 128},
    {"avx2", Numbers::bytes, INLAY_TIMES(INLAY_BYTES_256), all * 64},
    {"baseline", Numbers::bytes, INLAY_TIMES(INLAY_WORDS), all * 16},
    {"avx512bf16", Numbers::bfloats, INLAY_TIMES(INLAY_BFLOATS), all * 64},
    {"avx512", Numbers::floats, INLAY_TIMES(INLAY_FLOATS_512), all * 32},
    {"avx2", Numbers::floats, INLAY_TIMES(INLAY_FLOATS_256), all * 16},
    {"baseline", Numbers::floats, INLAY_TIMES(INLAY_FLOATS_128), all * 8},
#else
    {"neon_", Numbers::bytes, INLAY_TIMES(INLAY_DOT), all * 32},
    {"neon", Numbers::bytes, INLAY_TIMES(INLAY_LONG), all * 16},
    {"neon", Numbers::floats, INLAY_TIMES(INLAY_FLOATS), all * 8},
#endif
};

}  // namespace

// Each thread's best of many passes, so short that some are not disturbed by other programs.
double product_speed(std::string_view isa, Numbers numbers, int threads) {
  const auto* row = std::find_if(std::begin(instructions), std::end(instructions), [&](const Instruction& candidate) {
    return candidate.numbers == numbers && isa.starts_with(candidate.isa);
  });
  if (row == std::end(instructions)) return 0;
  std::vector<double> speeds(threads);
  std::vector<std::jthread> team;
  for (double& speed : speeds) {
    team.emplace_back([&speed, row] {
      for (int pass = 0; pass < 20; ++pass) speed = std::max(speed, row->operations / seconds_of(row->loop));
    });
  }
  team.clear();
  return std::accumulate(speeds.begin(), speeds.end(), 0.0);
}

Numbers numbers_of(std::string_view isa, std::uint32_t type) {
  constexpr std::uint32_t f32 = 0, f16 = 1, bf16 = 30;
  if (type != f32 && type != f16 && type != bf16) return Numbers::bytes;
  return isa == "avx512bf16" && type != f32 ? Numbers::bfloats : Numbers::floats;
}

}  // namespace cli

// Which instruction sets this processor can run, best first.
#include "base/machine.hpp"
#include "cpu/cpu.hpp"
#include "cpu/kernels.hpp"

namespace inlay::cpu {

extern const RowKernels rows_baseline, rows_avx2, rows_avx512, rows_neon;

namespace {

struct Row {
  const Kernels* kernels;
  bool (*runs)() noexcept;
};

struct Passes {
  const RowKernels* kernels;
  bool (*runs)() noexcept;
};

bool always() noexcept { return true; }

#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && base::has_half_conversion();
}
bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

bool has_avx512vnni() noexcept { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }

// Intel's multiply pairs of bfloat16 at half the speed of floats.
bool prefers_floats() noexcept { return __builtin_cpu_is("intel"); }

const Row rows[] = {
    {&avx512amx, []() noexcept { return has_avx512vnni() && base::may_use_tiles(); }},
    {&avx512vnni, []() noexcept { return has_avx512vnni() && prefers_floats(); }},
    {&avx512bf16, []() noexcept { return has_avx512vnni() && __builtin_cpu_supports("avx512bf16"); }},
    {&avx512vnni, []() noexcept { return has_avx512vnni() && !prefers_floats(); }},
    {&avx512, has_avx512},
    {&avx2, has_avx2},
    {&baseline, always},
};

const Passes passes[] = {{&rows_avx512, has_avx512}, {&rows_avx2, has_avx2}, {&rows_baseline, always}};
#elif defined(__aarch64__)
const Row rows[] = {
    {&neon_i8mm, []() noexcept { return base::has_dot_product() && base::has_matrix_product(); }},
    {&neon_dot, base::has_dot_product},
    {&neon, always},
};

const Passes passes[] = {{&rows_neon, always}};
#else
#error "Inlay has kernels for x86-64 and arm64"
#endif

}  // namespace

const Kernels* usable(int index) noexcept {
  for (const Row& row : rows) {
    if (row.runs() && index-- == 0) return row.kernels;
  }
  return nullptr;
}

const RowKernels* row_kernels(int index) noexcept {
  for (const Passes& each : passes) {
    if (each.runs() && index-- == 0) return each.kernels;
  }
  return nullptr;
}

}  // namespace inlay::cpu

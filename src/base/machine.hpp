// What the process may use of the machine it runs on.
#pragma once

#include <cstddef>

namespace inlay::base {

// Threads that can work side by side: physical cores, cut by the process's affinity and by its control group's quota.
int usable_cores() noexcept;

// What __builtin_cpu_supports cannot tell in every compiler.
bool has_half_conversion() noexcept;  // x86: F16C
bool may_use_tiles() noexcept;        // x86: AMX with bytes; asks the system, which grants it to the whole process
bool has_dot_product() noexcept;      // arm64: sdot
bool has_matrix_product() noexcept;   // arm64: smmla

// Asks for large pages behind a block of memory; it stays as usable without them.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace inlay::base

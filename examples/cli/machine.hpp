// What the machine can do at most, to put a speed beside it.
#pragma once

#include <cstdint>

namespace cli {

double read_bandwidth(int threads);  // bytes a second that so many threads read from memory together
std::uint64_t peak_memory();         // bytes that this process held at most; 0 where the system does not tell

}  // namespace cli

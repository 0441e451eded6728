// The door for C: handles over the C++ classes, statuses instead of exceptions.
#include <cstdint>

#include "inlay/version.hpp"

extern "C" INLAY_API std::uint32_t inlay_version(void) { return 0x000100; }

// What one thread of this machine can do at most: bytes read from memory, and products in each form of numbers.
#pragma once

#include <string_view>

namespace bench {

// Bytes read on large pages in a second of the thread's own time, best of a few passes.
double read_speed();

// Operations a second, two for each product, that an instruction set's instruction for such numbers does at most; 0
// where it has none. This processor must have the instruction set.
enum class Numbers { bytes, bfloats, floats };
double product_speed(std::string_view isa, Numbers numbers);

}  // namespace bench

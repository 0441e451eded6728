// What the machine can do at most, to put a speed beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace cli {

// Measures how fast so many threads together read memory. Keeps its memory, so that it can be asked again and again.
class ReadProbe {
 public:
  explicit ReadProbe(int threads);
  double operator()();  // bytes a second, best of a few passes

 private:
  static constexpr std::align_val_t alignment{std::size_t{2} << 20};  // of a large page
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete[](memory, alignment); }
  };
  std::vector<std::unique_ptr<std::byte[], Release>> memory_;
};

// Operations a second, two for each product, that so many threads together do at most with an instruction set's
// instruction for such numbers; 0 where it has none. This processor must have the instruction set.
enum class Numbers { bytes, bfloats, floats };
double product_speed(std::string_view isa, Numbers numbers, int threads);

// What the numbers of a GGUF type are when an instruction set multiplies them.
Numbers numbers_of(std::string_view isa, std::uint32_t type);

std::uint64_t peak_memory();  // bytes that this process held at most; 0 where the system does not tell

}  // namespace cli

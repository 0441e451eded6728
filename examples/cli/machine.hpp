// What the machine can do at most, to put a speed beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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
    void operator()(std::uint64_t* memory) const { ::operator delete[](memory, alignment); }
  };
  std::vector<std::unique_ptr<std::uint64_t[], Release>> memory_;
};

std::uint64_t peak_memory();  // bytes that this process held at most; 0 where the system does not tell

}  // namespace cli

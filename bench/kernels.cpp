// Speed of matrix products, kernel by kernel: bytes of weights a second for few tokens, operations a second for many,
// and for few tokens the share of the speed at which this machine reads memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "cpu/cpu.hpp"
#include "gguf/types.hpp"

namespace {

using inlay::gguf::Type;

constexpr std::size_t streamed_bytes = std::size_t{192} << 20;  // far beyond any cache
constexpr std::int64_t width = 2048, rows = 2048;

// Bytes at which one thread reads memory on large pages in a second of its own time, best of a few passes.
double read_speed() {
  static const double best = [] {
    using Line = std::uint64_t __attribute__((vector_size(64)));
    const std::unique_ptr<std::byte, decltype(&std::free)> memory(
        static_cast<std::byte*>(std::aligned_alloc(std::size_t{2} << 20, streamed_bytes)), std::free);
    inlay::base::prefer_large_pages(memory.get(), streamed_bytes);
    std::fill_n(memory.get(), streamed_bytes, std::byte{1});
    const auto* lines = reinterpret_cast<const Line*>(memory.get());
    double speed = 0;
    for (int pass = 0; pass < 8; ++pass) {
      const std::clock_t start = std::clock();
      Line sums[2] = {};
      for (std::size_t i = 0; i < streamed_bytes / sizeof(Line); i += 2) {
        __builtin_prefetch(lines + i + 32);
        sums[0] += lines[i];
        sums[1] += lines[i + 1];
      }
      benchmark::DoNotOptimize(sums);
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      speed = std::max(speed, static_cast<double>(streamed_bytes) / seconds);
    }
    return speed;
  }();
  return best;
}

// Copies of one weight, enough that each is read from memory, and a step that multiplies with the next of them.
class Product {
 public:
  Product(const char* isa, Type type, int tokens, bool from_memory) {
    const inlay_host host = {.size = sizeof host, .threads = 1, .isa = isa};
    device_ = backend().open(&host, nullptr, 0);
    const auto row_bytes = static_cast<std::int64_t>(inlay::gguf::bytes_of(type, width));
    std::vector<std::byte> file(rows * row_bytes, std::byte{0x11});  // every half is 0x1111: small, and finite
    const inlay_tensor source = {file.data(), static_cast<std::uint32_t>(type), 2, {rows, width}, {row_bytes}};
    bytes_ = backend().pack(device_, &source, INLAY_ROLE_MATRIX, 0, 0, &weight_);
    weights_.resize(from_memory ? std::max<std::size_t>(1, streamed_bytes / bytes_) : 1);
    for (void*& copy : weights_) {
      weight_.data = copy = backend().alloc(device_, bytes_);
      backend().pack(device_, &source, INLAY_ROLE_MATRIX, 0, rows, &weight_);
    }
    x_.assign(tokens * width, 0.5f);
    y_.assign(tokens * rows, 0.0f);
    input_ = {x_.data(), INLAY_F32, 2, {tokens, width}, {width * sizeof(float)}};
    output_ = {y_.data(), INLAY_F32, 2, {tokens, rows}, {rows * sizeof(float)}};
    batch_.tokens = tokens;
  }
  ~Product() {
    for (void* copy : weights_) backend().release(device_, copy, bytes_);
    backend().close(device_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  std::size_t weight_bytes() const { return bytes_; }

  void run() {
    weight_.data = weights_[next_++ % weights_.size()];
    const inlay_tensor *y = &output_, *w = &weight_;
    const inlay_linear_op op = {.size = sizeof op, .n = 1, .x = &input_, .y = &y, .w = &w};
    backend().begin(device_, &batch_);
    backend().ops->linear(device_, &op);
    backend().end(device_, nullptr, 0);
  }

  static const inlay_backend& backend() { return *inlay::cpu::backend(); }

 private:
  inlay_device* device_;
  std::size_t bytes_ = 0, next_ = 0;
  std::vector<void*> weights_;
  std::vector<float> x_, y_;
  inlay_tensor weight_ = {}, input_ = {}, output_ = {};
  std::int32_t starts_[2] = {0, 1};
  inlay_batch batch_ = {.size = sizeof(inlay_batch), .seqs = 1, .query_start = starts_};
};

void multiply(benchmark::State& state, const char* isa, Type type, int tokens) {
  const bool few = tokens <= 8;
  Product product(isa, type, tokens, few);
  for (auto _ : state) product.run();
  using benchmark::Counter;
  const auto runs = static_cast<double>(state.iterations());
  if (few) {
    const double bytes = static_cast<double>(product.weight_bytes()) * runs;
    state.counters["bytes/s"] = Counter(bytes, Counter::kIsRate);
    state.counters["of read speed"] = Counter(bytes / read_speed(), Counter::kIsRate);
  } else {
    state.counters["operations/s"] = Counter(2.0 * width * rows * tokens * runs, Counter::kIsRate);
  }
}

bool is_usable(const char* isa) {
  const inlay_host host = {.size = sizeof host, .threads = 1, .isa = isa};
  inlay_device* device = Product::backend().open(&host, nullptr, 0);
  Product::backend().close(device);
  return device;
}

void register_products(const char* isa) {
  constexpr Type types[] = {Type::Q4_0,   Type::Q4_1,   Type::Q5_0, Type::Q5_1, Type::Q8_0,
                            Type::Q2_K,   Type::Q3_K,   Type::Q4_K, Type::Q5_K, Type::Q6_K,
                            Type::IQ4_NL, Type::IQ4_XS, Type::F16,  Type::BF16, Type::F32};
  for (const Type type : types) {
    for (const int tokens : {1, 2, 4, 8, 512}) {
      const std::string name =
          std::string(isa) + "/" + std::string(inlay::gguf::type_info(type).name) + "/" + std::to_string(tokens);
      benchmark::RegisterBenchmark(name.c_str(), multiply, isa, type, tokens)->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* isa :
       {"avx512amx", "avx512bf16", "avx512vnni", "avx512", "avx2", "neon_i8mm", "neon_dot", "neon", "baseline"}) {
    if (is_usable(isa)) register_products(isa);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

// Speed of matrix products, kernel by kernel, with weights packed or as the model's file has them: for few tokens bytes
// of weights a second and their share of what this machine reads from memory, for many operations a second and their
// share of what its instruction for such numbers can do.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/machine.hpp"
#include "cpu/cpu.hpp"
#include "gguf/types.hpp"

namespace {

using inlay::gguf::Type;

constexpr std::size_t streamed_bytes = std::size_t{192} << 20;  // far beyond any cache
constexpr std::int64_t width = 2048, rows = 2048;

// Copies of one weight, enough that each is read from memory, and a step that multiplies with the next of them.
class Product {
 public:
  Product(const char* isa, Type type, int tokens, bool from_memory, bool as_in_file) {
    const inlay_host host = {.size = sizeof host, .threads = 1, .isa = isa};
    device_ = backend().open(&host, nullptr, 0);
    const auto row_bytes = static_cast<std::int64_t>(inlay::gguf::bytes_of(type, width));
    std::vector<std::byte> file(rows * row_bytes, std::byte{0x11});  // every half is 0x1111: small, and finite
    const inlay_tensor source = {file.data(), static_cast<std::uint32_t>(type), 2, {rows, width}, {row_bytes}};
    bytes_ = as_in_file ? file.size() : backend().pack(device_, &source, INLAY_ROLE_MATRIX, 0, 0, &weight_);
    if (as_in_file) weight_ = source;
    weights_.resize(from_memory ? std::max<std::size_t>(1, streamed_bytes / bytes_) : 1);
    for (void*& copy : weights_) {
      weight_.data = copy = backend().alloc(device_, bytes_);
      if (as_in_file) {
        backend().upload(device_, copy, file.data(), bytes_);
      } else {
        backend().pack(device_, &source, INLAY_ROLE_MATRIX, 0, rows, &weight_);
      }
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

double read_limit() {
  static const double limit = cli::ReadProbe(1)();
  return limit;
}

double product_limit(std::string_view isa, Type type) {
  static std::map<std::pair<std::string_view, cli::Numbers>, double> known;
  const auto numbers = cli::numbers_of(isa, static_cast<std::uint32_t>(type));
  double& limit = known[{isa, numbers}];
  if (limit == 0) limit = cli::product_speed(isa, numbers, 1);
  return limit;
}

void multiply(benchmark::State& state, const char* isa, Type type, int tokens, bool as_in_file) {
  const bool few = tokens <= 8;
  Product product(isa, type, tokens, few, as_in_file);
  for (auto _ : state) product.run();
  using benchmark::Counter;
  const auto runs = static_cast<double>(state.iterations());
  if (few) {
    const double bytes = static_cast<double>(product.weight_bytes()) * runs;
    state.counters["bytes/s"] = Counter(bytes, Counter::kIsRate);
    state.counters["of read speed"] = Counter(bytes / read_limit(), Counter::kIsRate);
  } else {
    const double operations = 2.0 * width * rows * tokens * runs;
    state.counters["operations/s"] = Counter(operations, Counter::kIsRate);
    state.counters["of peak"] = Counter(operations / product_limit(isa, type), Counter::kIsRate);
  }
}

bool is_usable(const char* isa) {
  const inlay_host host = {.size = sizeof host, .threads = 1, .isa = isa};
  inlay_device* device = Product::backend().open(&host, nullptr, 0);
  Product::backend().close(device);
  return device;
}

void register_products(const char* isa) {
  constexpr Type types[] = {Type::Q4_0,  Type::Q4_1,    Type::Q5_0,    Type::Q5_1,   Type::Q8_0,  Type::Q2_K,
                            Type::Q3_K,  Type::Q4_K,    Type::Q5_K,    Type::Q6_K,   Type::F16,   Type::BF16,
                            Type::F32,   Type::IQ4_NL,  Type::MXFP4,   Type::IQ4_XS, Type::NVFP4, Type::TQ1_0,
                            Type::TQ2_0, Type::Q1_0,    Type::Q2_0,    Type::IQ1_S,  Type::IQ1_M, Type::IQ2_XS,
                            Type::IQ2_S, Type::IQ2_XXS, Type::IQ3_XXS, Type::IQ3_S};
  for (const Type type : types) {
    for (const char* place : {"", "/model_file"}) {
      for (const int tokens : {1, 2, 4, 8, 512}) {
        const std::string name = std::string(isa) + "/" + std::string(inlay::gguf::type_info(type).name) + "/" +
                                 std::to_string(tokens) + place;
        benchmark::RegisterBenchmark(name.c_str(), multiply, isa, type, tokens, *place != 0)
            ->Unit(benchmark::kMicrosecond);
      }
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

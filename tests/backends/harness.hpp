// What the tests of backends share: every device that can be opened here, tensors in its memory, steps, and bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cpu/cpu.hpp"
#include "gguf/types.hpp"
#include "tests/backends/batch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace backends {

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;
using Shape = std::vector<std::int64_t>;

inline constexpr double epsilon = 0x1p-23;  // of float
inline constexpr double tiny = 0x1p-126;    // below it floats lose precision

// A way to compute on this machine.
struct Candidate {
  const inlay_backend* backend;
  const char* isa;
};

inline constexpr Candidate oracle = {nullptr, "reference"};

// Everything under test: a backend that is added here is tested by every file of this folder.
inline const std::vector<Candidate>& candidates() {
  static const std::vector<Candidate> found = [] {
    std::vector<Candidate> usable;
    const char* const names[] = {"baseline",  "avx2", "avx512",   "avx512vnni", "avx512bf16",
                                 "avx512amx", "neon", "neon_dot", "neon_i8mm"};
    for (const char* isa : names) {
      char message[256];
      const inlay_host host = {.size = sizeof host, .threads = 1, .isa = isa};
      inlay_device* device = inlay::cpu::backend()->open(&host, message, sizeof message);
      if (!device) continue;
      usable.push_back({inlay::cpu::backend(), isa});
      inlay::cpu::backend()->close(device);
      support::count(std::string("backend cpu, ") + isa, 1);
    }
    return usable;
  }();
  return found;
}

inline std::int64_t row_bytes(const Shape& shape, std::uint32_t type) {
  return static_cast<std::int64_t>(
      inlay::gguf::bytes_of(static_cast<inlay::gguf::Type>(type), static_cast<std::uint64_t>(shape.back())));
}

// A dense tensor that lies nowhere yet.
inline inlay_tensor layout(const Shape& shape, std::uint32_t type) {
  inlay_tensor view = {nullptr, type, static_cast<std::uint32_t>(shape.size()), {}, {}};
  std::int64_t size = row_bytes(shape, type);
  for (std::size_t i = shape.size(); i-- > 0;) {
    view.shape[i] = shape[i];
    if (i + 1 == shape.size()) continue;
    view.stride[i] = size;
    size *= shape[i];
  }
  return view;
}

// A device and the memory that a test takes from it.
class Device {
 public:
  explicit Device(const Candidate& candidate, int threads = 1, bool serial = false)
      : backend_(candidate.backend ? candidate.backend : inlay::cpu::backend()) {
    char message[256] = "";
    inlay_host host = {.size = sizeof host, .threads = threads, .isa = candidate.isa};
    if (serial) {
      host.parallel = [](void*, int n, void (*body)(void*, int), void* context) {
        for (int i = 0; i < n; ++i) body(context, i);
      };
    }
    handle_ = backend_->open(&host, message, sizeof message);
    INFO(message);
    REQUIRE(handle_ != nullptr);
  }
  ~Device() {
    for (const auto& [memory, bytes] : taken_) backend_->release(handle_, memory, bytes);
    backend_->close(handle_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const inlay_backend& backend() const { return *backend_; }
  inlay_device* handle() const { return handle_; }

  void* memory(std::size_t bytes) {
    void* block = backend_->alloc(handle_, std::max<std::size_t>(bytes, 1));
    REQUIRE(block != nullptr);
    taken_.push_back({block, std::max<std::size_t>(bytes, 1)});
    return block;
  }

  // A tensor whose bytes are `bytes`; without any, all ones: NaN, so what an operation leaves unwritten is noticed.
  inlay_tensor tensor(const Shape& shape, std::uint32_t type, Bytes bytes = {}) {
    inlay_tensor view = layout(shape, type);
    bytes.resize(static_cast<std::size_t>(shape.size() == 1 ? row_bytes(shape, type) : view.stride[0] * shape[0]),
                 std::byte{0xFF});
    view.data = memory(bytes.size());
    backend_->upload(handle_, view.data, bytes.data(), bytes.size());
    return view;
  }
  inlay_tensor numbers(const Shape& shape, const Floats& values) {
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor(shape, INLAY_F32, bytes);
  }
  inlay_tensor indices(const Shape& shape, const std::vector<std::int32_t>& values) {
    Bytes bytes(values.size() * sizeof(std::int32_t));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor(shape, INLAY_I32, bytes);
  }
  inlay_tensor empty(const Shape& shape, std::uint32_t type = INLAY_F32) { return tensor(shape, type); }

  // A weight in the backend's own form, packed in pieces from host memory as the runtime does.
  inlay_tensor weight(const Shape& shape, std::uint32_t type, Bytes bytes, std::uint32_t role = INLAY_ROLE_MATRIX) {
    inlay_tensor source = layout(shape, type), packed = {};
    source.data = bytes.data();
    const std::size_t size = backend_->pack(handle_, &source, role, 0, 0, &packed);
    if (size == 0) return tensor(shape, type, bytes);
    REQUIRE(size != SIZE_MAX);
    packed.data = memory(size);
    const std::int64_t height = shape[shape.size() - 2], matrices = shape.size() == 3 ? shape[0] : 1;
    for (std::int64_t first = 0, rows = 0; first < height * matrices; first += rows) {
      rows = std::min<std::int64_t>(16, height - first % height);
      REQUIRE(backend_->pack(handle_, &source, role, first, rows, &packed) != SIZE_MAX);
    }
    return packed;
  }

  Floats read(const inlay_tensor& view) const {
    std::int64_t count = 1;
    for (std::uint32_t i = 0; i < view.rank; ++i) count *= view.shape[i];
    Floats values(static_cast<std::size_t>(count));
    backend_->download(handle_, values.data(), view.data, values.size() * sizeof(float));
    return values;
  }
  std::vector<std::int32_t> read_indices(const inlay_tensor& view) const {
    const Floats bits = read(view);
    std::vector<std::int32_t> values(bits.size());
    std::memcpy(values.data(), bits.data(), bits.size() * sizeof(float));
    return values;
  }

  // One operation as a step of its own.
  template <class Operation>
  void run(Batch& batch, std::uint32_t kind, void (*inlay_ops::*member)(inlay_device*, const Operation*),
           const Operation& op) {
    INFO("isa " << backend_->isa(handle_) << ", operation " << kind);
    REQUIRE(backend_->can(handle_, kind, &op) != 0);
    const inlay_batch view = batch.view();
    char message[256] = "";
    backend_->begin(handle_, &view);
    (backend_->ops->*member)(handle_, &op);
    REQUIRE(backend_->end(handle_, message, sizeof message) == INLAY_STEP_DONE);
  }
  void run(Batch& b, const inlay_embed_op& op) { run(b, INLAY_OP_EMBED, &inlay_ops::embed, op); }
  void run(Batch& b, const inlay_norm_op& op) { run(b, INLAY_OP_NORM, &inlay_ops::norm, op); }
  void run(Batch& b, const inlay_linear_op& op) { run(b, INLAY_OP_LINEAR, &inlay_ops::linear, op); }
  void run(Batch& b, const inlay_binary_op& op) { run(b, INLAY_OP_BINARY, &inlay_ops::binary, op); }
  void run(Batch& b, const inlay_glu_op& op) { run(b, INLAY_OP_GLU, &inlay_ops::glu, op); }
  void run(Batch& b, const inlay_rope_op& op) { run(b, INLAY_OP_ROPE, &inlay_ops::rope, op); }
  void run(Batch& b, const inlay_attention_op& op) { run(b, INLAY_OP_ATTENTION, &inlay_ops::attention, op); }
  void run(Batch& b, const inlay_pick_op& op) { run(b, INLAY_OP_PICK, &inlay_ops::pick, op); }
  void run(Batch& b, const inlay_route_op& op) { run(b, INLAY_OP_ROUTE, &inlay_ops::route, op); }
  void run(Batch& b, const inlay_experts_op& op) { run(b, INLAY_OP_EXPERTS, &inlay_ops::experts, op); }
  void run(Batch& b, const inlay_scan_op& op) { run(b, INLAY_OP_SCAN, &inlay_ops::scan, op); }
  void run(Batch& b, const inlay_choose_op& op) { run(b, INLAY_OP_CHOOSE, &inlay_ops::choose, op); }

 private:
  struct Taken {
    void* memory;
    std::size_t bytes;
  };
  const inlay_backend* backend_;
  inlay_device* handle_ = nullptr;
  std::vector<Taken> taken_;
};

// ---- numbers

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }
  float uniform(float low, float high) { return low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24f; }
  Floats floats(std::size_t count, float largest = 1) {
    Floats values(count);
    for (float& value : values) value = uniform(-largest, largest);
    return values;
  }

 private:
  std::mt19937 engine_;
};

// ---- comparing

// Every value within its own bound; NaN never is.
inline void check_within(const Floats& got, const Floats& want, const std::function<double(std::size_t)>& bound) {
  REQUIRE(got.size() == want.size());
  std::size_t worst = 0, wrong = 0;
  for (std::size_t i = got.size(); i-- > 0;) {
    if (std::abs(double{got[i]} - want[i]) <= bound(i)) continue;
    worst = i;
    ++wrong;
  }
  INFO(wrong << " of " << got.size() << " are off, the first at " << worst << ": " << got[worst] << " for "
             << want[worst] << ", bound " << bound(worst));
  CHECK(wrong == 0);
}

inline void check_equal(const Floats& got, const Floats& want) {
  REQUIRE(got.size() == want.size());
  const auto same = [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  const auto first = std::mismatch(got.begin(), got.end(), want.begin(), same);
  INFO("the first difference is at " << first.first - got.begin());
  CHECK(first.first == got.end());
}

}  // namespace backends

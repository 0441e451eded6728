// One forward pass as a list of operations: recorded by the model's blocks, joined, then run by a backend.
#pragma once

#include <deque>
#include <memory_resource>
#include <span>
#include <vector>

#include "inlay/nn/architecture.hpp"
#include "runtime/device.hpp"

namespace inlay::runtime {

inline constexpr int most_joined = 4;  // linears that share their input

// An operation with everything it points to but tensors, which the list keeps. Records move while they are joined, so
// what points into a record is set by bind().
struct Record {
  std::uint32_t op = INLAY_OP_COUNT;  // INLAY_OP_COUNT: a layer's mark
  int layer = 0;
  union {
    inlay_embed_op embed;
    inlay_norm_op norm;
    inlay_linear_op linear;
    inlay_binary_op binary;
    inlay_glu_op glu;
    inlay_rope_op rope;
    inlay_attention_op attention;
    inlay_pick_op pick;
    inlay_route_op route;
    inlay_experts_op experts;
    inlay_scan_op scan;
    inlay_choose_op choose;
  };
  const inlay_tensor *y[most_joined] = {}, *w[most_joined] = {}, *bias[most_joined] = {}, *in[8] = {};
  float scale[most_joined] = {1, 1, 1, 1};
  inlay_norm_op norm_before = {};  // of a linear; size 0: none, as for the three below
  inlay_glu_op glu_after = {};
  inlay_rope_op rope_q = {}, rope_k = {};  // of attention
  Record() : embed{} {}
  void bind();
};

// A piece of scratch memory. While a pass is recorded it begins at `begin`, counted from some place, and from there on
// what was in the layer before may lie there, too; then place() finds where it lies when the pass runs.
struct Buffer {
  std::size_t begin, bytes, place = 0;
  std::size_t first = 0, last = 0;           // operations that need it
  bool is_given = false, is_result = false;  // what the host writes before the pass, and reads after it
};

// A tensor that the list points to, and which buffer it is in; -1: in none.
struct Kept : inlay_tensor {
  int buffer;
};

// Finds a place for every buffer that the list or the host needs. Returns the bytes of all.
std::size_t place(std::span<const Record> list, std::span<Buffer> buffers,
                  std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

// Merges neighbours: linears of one input, norm into them, gate and up with their activation, a sum into the linear
// before it, rotations into attention. The joined list computes the same bits.
using Records = std::pmr::vector<Record>;
void join(Records& list);

}  // namespace inlay::runtime

// The runtime's side of nn::Step: the list, its tensors, and scratch memory handed out from one block.
struct inlay::nn::Step::State {
  struct Sizes {
    std::int64_t tokens = 0, wanted = 0, sequences = 0;
    bool operator==(const Sizes&) const = default;
  };
  struct Pass {  // as recorded
    explicit Pass(std::pmr::memory_resource* memory) : list(memory), tensors(memory) {}
    Sizes sizes;
    Tensor output;         // [wanted, V] or what the network returned
    Tensor given, hidden;  // [T, D] from the host, and for it; empty: none
    runtime::Records list;
    std::pmr::deque<runtime::Kept> tensors;  // what the list points to
  };

  State(const runtime::Device& device, std::span<const inlay_cache> keys_values, std::span<const inlay_cache> states)
      : device(device),
        keys_values(keys_values),
        states(states),
        pass(base::make<Pass>(device.memory(), device.memory())),
        others_(device.memory()),
        buffers_(device.memory()),
        open_(device.memory()) {}

  // Records network's pass of these sizes; `rows` is [wanted] i32, which rows of the batch are wanted. The lists of the
  // last few sizes are kept. Grows scratch memory where the pass needs it.
  void record(const Network& network, const Sizes& sizes, std::int32_t* rows, bool joined = true);
  // What record() would need, with no memory touched.
  std::size_t measure(const Network& network, const Sizes& sizes);
  // Private memory of the backend that the last measured or recorded pass takes.
  std::size_t workspace(const inlay_batch& batch);
  // Runs the recorded pass; throws Error{memory|device|cancelled}.
  void run(const inlay_batch& batch);
  // Asks the backend about every recorded operation; throws Error{unsupported} naming one that it refuses.
  void check() const;

  const inlay_tensor* keep(const Tensor& tensor) {
    return tensor ? &pass->tensors.emplace_back(runtime::Kept{tensor.view, buffer_of(tensor)}) : nullptr;
  }
  runtime::Record& add(std::uint32_t op);
  std::byte* take(std::size_t bytes);  // scratch memory, as long as it is only recorded
  void give_back(std::size_t kept);    // all that was taken since so much was

  const runtime::Device& device;
  std::span<const inlay_cache> keys_values, states;
  base::Owned<Pass> pass;  // the running one
  inlay_tensor rows = {};
  runtime::Block memory;
  std::size_t used = 0;
  bool keeps_hidden = false;  // heads guess from what the last layer made

 private:
  static constexpr std::size_t most_passes = 12;  // a plain step, those with drafts, a few more

  bool find(const Sizes& sizes);
  // Records and finds places; returns the bytes of scratch memory.
  std::size_t trace(const Network& network, const Sizes& sizes, std::int32_t* rows, bool joined);
  void move_to_places();
  int buffer_of(const Tensor& tensor) const noexcept;
  void submit(const inlay_batch& batch);

  std::pmr::vector<base::Owned<Pass>> others_;  // of other sizes, and the same memory; the one used last at the end
  std::pmr::vector<runtime::Buffer> buffers_;
  std::pmr::vector<int> open_;  // buffers of this layer and of what is around it
};

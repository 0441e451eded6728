// A view of numbers, and the forward pass that computes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "inlay/backend.h"
#include "inlay/error.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

class Step;

/// A view on one device, outermost dimension first. Copying copies the view. The
/// numbers live until the end of the layer, or as long as the model for weights.
struct INLAY_API Tensor {
  inlay_tensor view{};
  Step* step = nullptr;  ///< null for weights

  explicit operator bool() const noexcept { return view.data != nullptr; }
  std::int64_t rows() const noexcept { return view.shape[0]; }
  std::int64_t cols() const noexcept { return view.shape[view.rank - 1]; }
  Tensor split(std::int64_t heads) const;                        ///< [T, n*K] seen as [T, n, K]; no copy
  Tensor join() const;                                           ///< [T, n, K] seen as [T, n*K]; no copy
  Tensor columns(std::int64_t first, std::int64_t count) const;  ///< a part of the last dimension; no copy
  Tensor heads(std::int64_t first, std::int64_t count) const;    ///< a part of the middle one; no copy
  Tensor slice(std::int64_t first, std::int64_t count) const;    ///< a part of the first one; no copy
  Tensor view_as(std::initializer_list<std::int64_t> shape,
                 std::initializer_list<std::int64_t> stride) const;  ///< strides in numbers; 0 repeats
};

INLAY_API Tensor& operator+=(Tensor& x, const Tensor& y);  ///< x = x + y, in place
INLAY_API Tensor operator+(const Tensor& x, const Tensor& y);
INLAY_API Tensor operator-(const Tensor& x, const Tensor& y);
INLAY_API Tensor operator*(const Tensor& x, const Tensor& y);  ///< elementwise; y may be [T,1] or [1,D]
INLAY_API Tensor& operator*=(Tensor& x, float factor);

enum class Act : std::uint32_t {
  none = INLAY_ACT_NONE,
  silu = INLAY_ACT_SILU,
  gelu = INLAY_ACT_GELU,
  gelu_tanh = INLAY_ACT_GELU_TANH,
  relu = INLAY_ACT_RELU,
  relu2 = INLAY_ACT_RELU2,
  sigmoid = INLAY_ACT_SIGMOID,
  tanh = INLAY_ACT_TANH,
  softplus = INLAY_ACT_SOFTPLUS,
  swiglu_clamped = INLAY_ACT_SWIGLU_CLAMPED,
  gelu_quick = INLAY_ACT_GELU_QUICK,
  clamp = INLAY_ACT_CLAMP,
  xielu = INLAY_ACT_XIELU,
  swiglu_limited = INLAY_ACT_SWIGLU_LIMITED,
  swiglu_bounded = INLAY_ACT_SWIGLU_BOUNDED
};

enum class Mask : std::uint32_t {
  causal = INLAY_MASK_CAUSAL,
  all = INLAY_MASK_ALL,
  sliding = INLAY_MASK_SLIDING,
  chunked = INLAY_MASK_CHUNKED,
  symmetric = INLAY_MASK_SYMMETRIC
};

enum class Pairing : std::uint32_t { adjacent, halves };  ///< which elements rotate together

/// Rotates the first `dims` of every head by its token's position; scalings are in `frequencies`.
struct Rope {
  int dims = 0;  ///< 0: no rotation
  Pairing pairing = Pairing::adjacent;
  Tensor frequencies = {};  ///< [dims/2] f32
  float magnitude = 1;
  int sections[4] = {};
  INLAY_API void operator()(const Tensor& x) const;  ///< in place, x of [T, heads, K]
};

/// How one layer attends. Zero means "no" (softcap, window) or "usual" (scale: 1 / sqrt(head_dim)).
struct AttendSpec {
  int heads = 0, kv_heads = 0, head_dim = 0;
  int value_dim = 0;  ///< 0: head_dim
  float scale = 0, softcap = 0;
  Mask mask = Mask::causal;
  int window = 0;
  Tensor sinks = {}, slopes = {}, bias = {};
  bool latent = false;   ///< values are the first value_dim of the keys
  bool encoder = false;  ///< over this step's own keys and values; nothing is kept
  Tensor choice = {};    ///< what Step::choose wrote; none: every key is read
  int chosen_run = 1;
};

/// What one layer keeps between steps: keys and values, a state, or both.
struct Cache {
  int kv_heads = 0, head_dim = 0, value_dim = 0;
  bool latent = false;
  std::int64_t state_bytes = 0;
  bool of_source = false;  ///< keys and values of an encoder-decoder's source, which its encoder's pass stores
};

/// Keys are chosen in runs of `run`, the last `local` of them always.
struct ChooseSpec {
  int run = 1, local = 0;
};

struct RouteSpec {
  std::uint32_t kind = INLAY_ROUTE_SOFTMAX;
  int used = 1, groups = 0, groups_used = 0, group_top = 2;
  bool normalise = false;
  float scale = 1;
  Tensor bias = {}, factor = {};  ///< of each expert: on its score when experts are chosen, on its weight afterwards
};

/// The layers of a model, in Weights::memory().
template <class Layer>
using Layers = std::pmr::vector<Layer>;

/// One forward pass over a ragged batch of T tokens from any number of sequences.
/// Calling a block records; nothing is computed before the runtime runs the list.
class INLAY_API Step {
 public:
  std::int64_t tokens() const noexcept;
  /// Rows whose logits will be read; 0: none, but what those of every token are made of.
  std::int64_t wanted() const noexcept;

  Tensor scratch(std::initializer_list<std::int64_t> shape,
                 std::uint32_t type = INLAY_F32);  ///< freed when the layer ends

  Tensor embed(const Tensor& table);            ///< [T, D]
  Tensor embed_positions(const Tensor& table);  ///< [T, D], rows by position instead of id
  Tensor embed_types(const Tensor& table);      ///< [T, D], row 1 for the tokens of a second text, else row 0
  Tensor norm(inlay_norm_kind, const Tensor& x, const Tensor& gain, const Tensor& bias, float eps);
  Tensor size(inlay_norm_kind, const Tensor& x, float eps = 0);  ///< [T, 1]: INLAY_NORM_SIZE or INLAY_NORM_SPREAD
  /// weight [N,D]: y[T,N]; weight [X,N,D] with x[T,X,D]: y[T,X,N], each head by its own matrix
  Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, float scale = 1);
  void linear_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias = {}, float scale = 1);
  void copy(const Tensor& from, const Tensor& to);  ///< of the same shape; strides may differ
  Tensor binary(inlay_binary_kind, const Tensor& a, const Tensor& b, float alpha, bool in_place = false);
  Tensor glu(Act, const Tensor& gate, const Tensor& up, float alpha = 0, float limit = 0, float beta = 0);
  void rope(const Tensor& x, const Rope&);
  Tensor attend(int layer, const Tensor& q, const Tensor& k, const Tensor& v, const AttendSpec&);
  /// Puts keys and values [T, G, K] into a layer's cache, for attention of later steps.
  void store(int layer, const Tensor& k, const Tensor& v);
  /// Writes to `choice`, [T, 1, n] i32, which keys attention is to read, by the scores of q [T, H, K] with the keys k
  /// [T, 1, K] of the layer's cache, weighed by weight [T, H]; without weight, [T, H, n], one choice for each head of
  /// q.
  void choose(int layer, const Tensor& choice, const Tensor& q, const Tensor& k, const Tensor& weight,
              const ChooseSpec& spec);
  Tensor pick_wanted(const Tensor& x);            ///< [R, D]
  Tensor given(std::int64_t width);               ///< [T, width] from the host: what another network made of the tokens
  bool keeps_hidden() const noexcept;             ///< whether the host wants what heads guess from ...
  void keep_hidden(const Tensor& x);              ///< ... [T, D], which is this
  Tensor pool(inlay_pick_kind, const Tensor& x);  ///< [sequences, D]

  struct Routed {
    Tensor choice, weight;
  };  ///< [T, used] i32 and f32
  Routed route(const Tensor& logits, const RouteSpec&);
  struct Experts {
    Tensor gate, up, down, gate_bias, up_bias, down_bias, gate_factor, up_factor;
    Act act = Act::silu;
    float alpha = 0, limit = 0;
    bool weight_first = false;
    int run = 1;  ///< neighbours that share one expert
  };
  Tensor experts(const Tensor& x, const Routed&, const Experts&);
  Tensor scan(inlay_scan_kind, int layer, const Tensor& x, std::initializer_list<Tensor> in,
              std::initializer_list<std::int64_t> shape, int heads = 1, int groups = 1, Act = Act::none, float eps = 0,
              std::int64_t state_offset = 0);

  /// x goes through every layer, in place, with what all of them also read. Here and nowhere else are scratch
  /// memory freed and layer marks (cancellation, traces) recorded.
  template <class Layer, class... Shared>
  void through(const Layers<Layer>& layers, Tensor& x, const Shared&... shared) {
    const void* home = x.view.data;
    for (int i = 0; i < int(layers.size()); ++i) {
      const auto kept = enter_layer(i);
      layers[std::size_t(i)](x, shared..., i);
      leave_layer(kept, x, home);
    }
    enter_layer(int(layers.size()));  // what follows may be as much
  }

  struct State;  ///< the runtime's side of a step
  explicit Step(State& state) noexcept : state_(&state) {}
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  std::size_t enter_layer(int index);
  void leave_layer(std::size_t kept, const Tensor& x, const void* home);
  Tensor embed_rows(const Tensor& table, inlay_embed_by by);
  State* state_;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay

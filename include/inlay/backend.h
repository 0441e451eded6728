/* The contract between Inlay and a compute backend. Pure C, append-only.
 *
 * A backend is one shared object with one exported symbol, inlay_backend_v1().
 * It implements transformer-sized operations over views of its own memory. A
 * step is a list of operations between begin() and end(); they return nothing,
 * and end() runs them and reports the first failure. Whatever an operation
 * points to stays where it is until end() returns, so a backend may keep the
 * pointers. Every struct that crosses the border and may grow begins with
 * `size`; each side reads only the bytes both know.
 *
 * An operation that is NULL, lies beyond `size`, or that can() refuses makes
 * the load fail naming backend, operation and type: nothing is found out in a
 * step.
 *
 * Conventions: row-major, last dimension contiguous, shapes outermost first.
 * T = tokens in this step, D = model width, H = query heads, G = key/value
 * heads, K = head size, N = output width, V = vocabulary, R = rows wanted.
 * Activations are f32. The order of every sum is part of the operation, so
 * results do not depend on batch, chunk or thread count. */
/* clang-format off: fields and their meanings stand in columns */
#ifndef INLAY_BACKEND_H
#define INLAY_BACKEND_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct inlay_device inlay_device; /* one accelerator and its in-order queue */

typedef enum inlay_type { /* GGUF type ids; >= INLAY_PRIVATE is a layout that only its backend knows */
                          INLAY_F32 = 0,
                          INLAY_F16 = 1,
                          INLAY_Q4_0 = 2,
                          INLAY_Q4_1 = 3,
                          INLAY_Q5_0 = 6,
                          INLAY_Q5_1 = 7,
                          INLAY_Q8_0 = 8,
                          INLAY_I32 = 26,
                          INLAY_BF16 = 30,
                          INLAY_PRIVATE = 0x1000
} inlay_type;

typedef struct inlay_tensor { /* a view; owns nothing; fixed for ever */
  void* data;
  uint32_t type, rank;
  int64_t shape[4];  /* outermost first */
  int64_t stride[4]; /* bytes between neighbours in each dimension; the last one is implied by type */
} inlay_tensor;

/* ---- what one step is about */
typedef struct inlay_page_table {       /* one for each group of layers with the same reach: full, window, cross */
  const int32_t *page_start, *page_ids; /* CSR: [seqs + 1], [page_start[seqs]] */
  const int32_t* length;                /* [seqs] tokens cached, this step's included; the first has position 0 */
} inlay_page_table;

typedef struct inlay_batch { /* host arrays */
  uint32_t size;
  int32_t tokens, seqs, tables, streams;
  const int32_t* ids;            /* [tokens] */
  const int32_t* query_start;    /* [seqs + 1] first token of each sequence in this step */
  const int32_t* positions;      /* [streams, tokens]; 1 stream, or 3-4 for M-RoPE */
  const int32_t* state_slot;     /* [seqs] recurrent state read and left behind; NULL: none */
  const inlay_page_table* table; /* [tables] */
  /* Drafts in a tree: a sequence may branch off another one, trunk, earlier in this list and no branch itself, behind
   * the first `shared` tokens that the trunk has in this step. These come before its own in its pages, too: what is
   * stored of them is stored for both. NULL: no branches. */
  const int32_t *trunk, *shared; /* [seqs] -1: none; tokens */
  const int32_t* types;          /* [tokens] which of two texts a token is of, in models that judge pairs; NULL: 0 */
} inlay_batch;

typedef enum inlay_cache_kind { INLAY_CACHE_KV, INLAY_CACHE_LATENT, INLAY_CACHE_STATE } inlay_cache_kind;

/* What one layer keeps. Page p (or state slot p) of a pool lies at segments[p / segment_pages] + (p % segment_pages)
 * * page_stride, and holds every layer of its group: this layer's keys at k_offset, its values at v_offset. What lies
 * there is in the backend's own layout; cache_bytes() says how much of it there is. */
typedef struct inlay_cache {
  uint32_t size, kind; /* latent: values are the head of the keys */
  uint32_t k_type, v_type;
  int32_t heads, k_dim, v_dim, page_size, table;
  int32_t segment_pages;
  void* const* segments;
  int64_t page_stride, k_offset, v_offset;
  int64_t state_bytes;
} inlay_cache;

/* ---- operations; `y` is written, NULL means "without" */
typedef enum inlay_op {
  INLAY_OP_EMBED,
  INLAY_OP_NORM,
  INLAY_OP_LINEAR,
  INLAY_OP_BINARY,
  INLAY_OP_GLU,
  INLAY_OP_ROPE,
  INLAY_OP_ATTENTION,
  INLAY_OP_PICK,
  INLAY_OP_ROUTE,
  INLAY_OP_EXPERTS,
  INLAY_OP_SCAN,
  INLAY_OP_CHOOSE,
  INLAY_OP_COUNT
} inlay_op;

typedef enum inlay_embed_by { INLAY_EMBED_ID, INLAY_EMBED_POSITION, INLAY_EMBED_TYPE } inlay_embed_by;
/* y[T,D] = table[ids], dequantized; or table[positions], table[types] */
typedef struct inlay_embed_op {
  uint32_t size, by;
  const inlay_tensor *y, *table;
} inlay_embed_op;

typedef enum inlay_norm_kind {
  INLAY_NORM_RMS,
  INLAY_NORM_LAYER,
  INLAY_NORM_L2,
  INLAY_NORM_SIZE,
  INLAY_NORM_SPREAD
} inlay_norm_kind;
/* Over the last dimension of x, of rank 2 or 3: rms: x / sqrt(mean(x^2) + eps); layer: (x - mean) / sqrt(var + eps);
 * l2: x / sqrt(max(sum(x^2), eps^2)). Then * gain + bias. Row i uses row i mod rows of gain and bias.
 * size and spread are what rms and layer divide by: y[T,1] = sqrt(mean(x^2) + eps), sqrt(var(x) + eps).
 * Sums are taken in double, so every instruction set rounds to the same floats nearly always. */
typedef struct inlay_norm_op {
  uint32_t size, kind;
  const inlay_tensor *y, *x, *gain, *bias;
  float eps;
} inlay_norm_op;

typedef enum inlay_act {
  INLAY_ACT_NONE,
  INLAY_ACT_SILU,
  INLAY_ACT_GELU,
  INLAY_ACT_GELU_TANH,
  INLAY_ACT_RELU,
  INLAY_ACT_RELU2,
  INLAY_ACT_SIGMOID,
  INLAY_ACT_TANH,
  INLAY_ACT_SOFTPLUS,
  INLAY_ACT_SWIGLU_CLAMPED,
  INLAY_ACT_GELU_QUICK,
  INLAY_ACT_CLAMP,
  INLAY_ACT_XIELU,
  INLAY_ACT_SWIGLU_LIMITED,
  INLAY_ACT_SWIGLU_BOUNDED
} inlay_act;
/* y = act(gate) * up; up NULL: y = act(gate). swiglu_clamped (gpt-oss): g = min(gate, limit), u = clamp(up, -limit,
 * limit), y = g * sigmoid(alpha * g) * (u + 1). clamp: clamp(gate, -limit, limit). xielu (Huang and Schlag 2024): alpha
 * * u^2 + beta * u for u > 0, else limit * (exp(min(u, -1e-6)) - 1 - u) + beta * u. swiglu_limited (Step 3.5):
 * y = min(silu(gate), limit) * clamp(up, -limit, limit). swiglu_bounded (DeepSeek 4): the same with
 * silu(min(gate, limit)). */
typedef struct inlay_glu_op {
  uint32_t size, act;
  const inlay_tensor *y, *gate, *up;
  float alpha, limit, beta;
} inlay_glu_op;

/* y[i][T,N] = (x w[i]') * scale[i] + bias[i] + add. The result is that of one accumulator for each (token, row) that
 * takes blocks of 32 columns left to right. For quantized w, x is first rounded in blocks of 32 columns to
 * q = nearest-even(x * (127 / max|x|)) with the scale max|x| / 127, and products inside a block are summed exactly as
 * integers. For F32, F16 and BF16, w is widened and products are summed in f32 column by column; or, for F16 and BF16,
 * w and x are first rounded to bfloat16, and products summed in f32 pair of columns by pair.
 * Joined forms: with `norm`, x is norm->x and norm->y need not be written; with `glu` (n == 2), y[0] = act(x w[0]' ...)
 * * (x w[1]' ...) and y[1] is NULL; `add` only with n == 1, and may be y itself. */
typedef struct inlay_linear_op {
  uint32_t size;
  int32_t n;
  const inlay_tensor *x, *add;
  const inlay_tensor *const *y, *const *w, *const *bias;
  const float* scale; /* [n]; NULL: 1 */
  const inlay_norm_op* norm;
  const inlay_glu_op* glu;
} inlay_linear_op;

typedef enum inlay_binary_kind { INLAY_BINARY_ADD, INLAY_BINARY_MUL } inlay_binary_kind;
/* add: y = a + alpha * b; mul: y = a * b * alpha; b NULL: y = a * alpha. b may be [T,1] or [1,D]. y may be a. */
typedef struct inlay_binary_op {
  uint32_t size, kind;
  const inlay_tensor *y, *a, *b;
  float alpha;
} inlay_binary_op;

/* Rotates, in place, the first `dims` of each head of x[T,H,K] by its token's position: pair j turns by position *
 * frequencies[j], and is scaled by magnitude. Pairs are (2j, 2j+1) where interleaved, else (j, j + dims/2). Linear,
 * llama3, YaRN and LongRoPE scalings are in the frequencies [dims/2], which the host computes. With sections (M-RoPE),
 * pair j takes the position stream that its section names. */
typedef struct inlay_rope_op {
  uint32_t size, interleaved;
  const inlay_tensor *x, *frequencies;
  float magnitude;
  int32_t dims, sections[4];
} inlay_rope_op;

typedef enum inlay_mask {
  INLAY_MASK_CAUSAL,
  INLAY_MASK_ALL,
  INLAY_MASK_SLIDING,
  INLAY_MASK_CHUNKED,
  INLAY_MASK_SYMMETRIC
} inlay_mask;
/* Stores k, v of this step in the cache, then y[T,H,v] = softmax(scale q k' + bias) v. Keys are taken in blocks of 64
 * from position 0, with one running maximum a block; parts of 512 keys are merged in order. softcap c: c tanh(s / c)
 * before the bias. sliding: key visible where p_q - p_k < window; chunked: p_k >= floor(p_q / window) * window;
 * symmetric: |p_q - p_k| <= window / 2. sinks [H]: one more logit in the denominator. slopes [H]: ALiBi, bias is
 * -slope * (p_q - p_k). bias [buckets,H]: T5's relative buckets. Without q and y it only stores. With `choice`, what
 * inlay_choose_op wrote in runs of `chosen_run` keys, a causal query reads these keys only, and takes them in blocks of
 * 64 and parts of 512 in the order of their positions; sequences of no more than choice.shape[2] keys are read whole.
 */
typedef struct inlay_attention_op {
  uint32_t size, mask;
  const inlay_tensor *y, *q, *k, *v; /* k NULL: nothing is stored (shared or cross cache); y, q NULL: only that */
  const inlay_tensor *sinks, *slopes, *bias;
  const inlay_cache* cache;             /* NULL: over this step's own k, v (encoders) */
  const inlay_rope_op *rope_q, *rope_k; /* applied on the way, or NULL */
  float scale, softcap;
  int32_t window, chosen_run;
  const inlay_tensor* choice; /* [T,1,n] or [T,G,n]; NULL: every key is read */
} inlay_attention_op;

/* Stores k[T,1,K] in the cache, then chooses for each token the keys that attention is to read, among those up to its
 * own position, in runs of `run` keys from position 0. The score of key s is the sum over h, in order, of weight[T,h] *
 * max(0, q_h s') (DeepSeek-AI 2025); without weight, each query head has a choice of its own, by q_h s'. A run scores
 * as its best key; the last `local` runs come before all others, ties go to the earlier run. y[T,1 or H,n] (i32), n =
 * run * (runs to be chosen): the positions in the chosen runs, ascending. Sequences of no more than n keys: y is not
 * written. */
typedef struct inlay_choose_op {
  uint32_t size;
  int32_t run, local; /* run 1, or local at least 1 */
  const inlay_tensor *y, *q, *k, *weight;
  const inlay_cache* cache; /* of one head */
} inlay_choose_op;

typedef enum inlay_pick_kind { INLAY_PICK_ROWS, INLAY_PICK_MEAN, INLAY_PICK_FIRST, INLAY_PICK_LAST } inlay_pick_kind;
/* rows: y[R,D] = x[rows[i]]; mean, first, last: y[seqs,D] pools each sequence's tokens */
typedef struct inlay_pick_op {
  uint32_t size, kind;
  const inlay_tensor *y, *x, *rows;
} inlay_pick_op;

typedef enum inlay_router {
  INLAY_ROUTE_SOFTMAX,
  INLAY_ROUTE_SIGMOID,
  INLAY_ROUTE_SOFTMAX_CHOSEN,
  INLAY_ROUTE_SPARSE_MIXER
} inlay_router;
/* logits[T,X] -> choice[T,c] (i32), weight[T,c]: scores are softmax or sigmoid of the logits (softmax_chosen: softmax
 * over the chosen only; sparse_mixer: the logits, and a choice weighs its share in the softmax of those s not chosen
 * before it that are near the best one b: (b - s) / max(|s|, b) <= 0.02); the c largest of score + bias are chosen,
 * best first, ties to the lower index. With groups, only the groups_used groups of experts count that score best, by
 * their best (group_top == 1) or the sum of their best two experts (2). normalise: weights divided by their sum
 * (floor 6.1e-5 for sigmoid: none). Then * scale, and * factor[e], e = the choice. */
typedef struct inlay_route_op {
  uint32_t size, kind;
  const inlay_tensor *choice, *weight, *logits, *bias;
  int32_t groups, groups_used, group_top;
  uint32_t normalise;
  float scale;
  const inlay_tensor* factor; /* [X]; NULL: 1 */
} inlay_route_op;

/* y[T,D] (+)= sum over c, in order, of weight[T,c] * down_e(act(gate_e(x)) * up_e(x)), e = choice[T,c]; weights are
 * [X,N,D] and [X,D,N]. up NULL: act(gate). gate_up in one tensor is two views. weight_first: weight[T,c] scales x
 * instead (Llama 4). run: so many neighbours share what they are made of, e = choice[T,c] / run; 0: 1.
 * Biases are [X,N] and [X,D]. Factors [X] are of each expert's products, before their biases;
 * NULL: 1. Tokens are grouped by expert, so each expert is read once a step. */
typedef struct inlay_experts_op {
  uint32_t size, act;
  const inlay_tensor *y, *x, *choice, *weight;
  const inlay_tensor *gate, *up, *down, *gate_bias, *up_bias, *down_bias;
  const float* scale; /* [3] of gate, up, down; NULL: 1 */
  float alpha, limit;
  uint32_t weight_first, accumulate;
  const inlay_tensor *gate_factor, *up_factor;
  int32_t run;
} inlay_experts_op;

typedef enum inlay_scan_kind {
  INLAY_SCAN_CONV,
  INLAY_SCAN_SELECTIVE,
  INLAY_SCAN_GATED_DELTA,
  INLAY_SCAN_RWKV6,
  INLAY_SCAN_RWKV7,
  INLAY_SCAN_RETENTION,
  INLAY_SCAN_SHIFT
} inlay_scan_kind;
/* A recurrent mixer over state slots, token by token in each sequence; what `in` holds is said where nn/recurrent.hpp
 * records it. */
typedef struct inlay_scan_op {
  uint32_t size, kind;
  const inlay_tensor *y, *x, *const *in;
  int32_t n, heads, groups;
  const inlay_cache* cache;
  uint32_t act;
  float eps;
  int64_t state_offset; /* bytes into this layer's state where this mixer's own begins */
} inlay_scan_op;

typedef struct inlay_ops {
  uint32_t size;
  void (*embed)(inlay_device*, const inlay_embed_op*);
  void (*norm)(inlay_device*, const inlay_norm_op*);
  void (*linear)(inlay_device*, const inlay_linear_op*);
  void (*binary)(inlay_device*, const inlay_binary_op*);
  void (*glu)(inlay_device*, const inlay_glu_op*);
  void (*rope)(inlay_device*, const inlay_rope_op*);
  void (*attention)(inlay_device*, const inlay_attention_op*);
  void (*pick)(inlay_device*, const inlay_pick_op*);
  void (*route)(inlay_device*, const inlay_route_op*);
  void (*experts)(inlay_device*, const inlay_experts_op*);
  void (*scan)(inlay_device*, const inlay_scan_op*);
  void (*choose)(inlay_device*, const inlay_choose_op*);
} inlay_ops;

/* ---- what a backend may ask of its host, and the backend itself */
typedef struct inlay_host {
  uint32_t size;
  int32_t index, threads; /* which device; 0 threads: all it may use */
  const char* isa;        /* NULL: the best */
  void* self;
  void (*log)(void* self, int level, const char* utf8);
  int (*cancelled)(void* self); /* polled at layer marks; != 0 ends the step */
  void (*parallel)(void* self, int n, void (*body)(void* context, int i),
                   void* context);                        /* NULL: own threads; bodies may run one after another */
  void* (*alloc)(void* self, size_t bytes, size_t align); /* NULL: out of memory */
  void (*release)(void* self, void*, size_t bytes, size_t align);
} inlay_host;

typedef enum inlay_role { INLAY_ROLE_MATRIX, INLAY_ROLE_TABLE } inlay_role; /* multiplied with; read row by row */

typedef enum inlay_step_status {
  INLAY_STEP_DONE = 0,
  INLAY_STEP_MEMORY = 4,
  INLAY_STEP_DEVICE = 5,
  INLAY_STEP_CANCELLED = 7
} inlay_step_status;

/* What ran since the device was opened; tests and traces read it. */
typedef struct inlay_counters {
  uint32_t size;
  uint64_t steps, regions, barriers;
} inlay_counters;

typedef struct inlay_backend {
  uint32_t size, abi; /* abi changes only when a field's meaning does */
  const char* name;   /* "cpu", "cuda" */
  int (*device_count)(void);
  inlay_device* (*open)(const inlay_host*, char* message,
                        size_t capacity); /* NULL: message says why; empty: no memory */
  void (*close)(inlay_device*);
  const char* (*isa)(inlay_device*);                             /* what it runs with: "avx2", "reference" */
  int (*can)(inlay_device*, uint32_t op, const void* op_struct); /* data pointers NULL; asked at load */
  void* (*alloc)(inlay_device*, size_t bytes);                   /* 64-byte aligned; NULL: out of memory */
  void (*release)(inlay_device*, void*, size_t bytes);
  void (*upload)(inlay_device*, void* dst, const void* src, size_t bytes);
  void (*download)(inlay_device*, void* dst, const void* src, size_t bytes);
  void (*copy)(inlay_device*, void* dst, const void* src, size_t bytes); /* inside the device */
  const char* (*layout)(inlay_device*); /* names pack()'s layout: key of a packed-weights file */
  /* The backend's own form of a weight [N,D] or [X,N,D]. With packed->data NULL it only fills *packed and returns the
   * bytes it takes; 0: the source's bytes will do as they are. Otherwise it packs rows [first_row, first_row + rows) of
   * [X*N] into packed->data; first_row is a multiple of 16 inside its matrix, and calls for disjoint rows may run side
   * by side. */
  size_t (*pack)(inlay_device*, const inlay_tensor* source, uint32_t role, int64_t first_row, int64_t rows,
                 inlay_tensor* packed);
  size_t (*cache_bytes)(inlay_device*, const inlay_cache*,
                        int which); /* of one page: 0 keys, 1 values; of one state slot: 0 */
  void (*read_rows)(inlay_device*, const inlay_cache*, const int32_t* slots, int n, float* k,
                    float* v); /* slot = page * page_size + row; canonical F32 [n, heads, dim] */
  void (*write_rows)(inlay_device*, const inlay_cache*, const int32_t* slots, int n, const float* k, const float* v);
  size_t (*workspace)(inlay_device*, int tokens, int rows,
                      int seqs); /* private memory of such a step so far recorded; for plan() */
  int (*begin)(inlay_device*, const inlay_batch*);
  void (*mark)(inlay_device*, int layer);                    /* cancellation and traces */
  int (*end)(inlay_device*, char* message, size_t capacity); /* runs the list; an inlay_step_status */
  void (*counters)(inlay_device*, inlay_counters*);
  const inlay_ops* ops;
  uint32_t (*cache_type)(inlay_device*); /* F16 or BF16: of keys and values where nobody chose; NULL: F16 */
} inlay_backend;

#define INLAY_BACKEND_ABI 1
const inlay_backend* inlay_backend_v1(void);

#ifdef __cplusplus
}
#endif
#endif

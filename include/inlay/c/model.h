/* Models: load, plan, facts, tokens of texts, embeddings. */
#ifndef INLAY_C_MODEL_H
#define INLAY_C_MODEL_H

#include "inlay/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct inlay_model inlay_model;

typedef enum inlay_level { INLAY_DEBUG, INLAY_INFO, INLAY_WARNING, INLAY_ERROR } inlay_level;

/* How keys and values are kept between steps; automatic: BF16 where the instruction set multiplies it faster, or F16. */
typedef enum inlay_cache_type {
  INLAY_CACHE_F16, INLAY_CACHE_F32, INLAY_CACHE_BF16, INLAY_CACHE_Q8_0, INLAY_CACHE_Q4_0, INLAY_CACHE_AUTOMATIC
} inlay_cache_type;

/* Packed in memory; the same in the file "<model>.packed", which the first load writes; as the model's file has them. */
typedef enum inlay_weight_place {
  INLAY_WEIGHTS_MEMORY, INLAY_WEIGHTS_PACKED_FILE, INLAY_WEIGHTS_MODEL_FILE
} inlay_weight_place;

/* How a model is loaded. `user` is handed to every function here; a function that is NULL is not called. */
typedef struct inlay_load {
  size_t size;
  inlay_text device;                    /* empty: the best that works */
  inlay_text isa;                       /* force "avx2", "reference", ...; "avx512vnni": halves exactly */
  int32_t threads;                      /* 0: one per physical core, within the CPU quota */
  int32_t context;                      /* tokens per session at most; 0: what the model was trained for */
  uint64_t cache_bytes;                 /* most that keys and values may take; 0: 6 GiB */
  inlay_cache_type keys, values;
  int32_t page;                         /* tokens per page of the cache */
  int32_t vocabulary_only;              /* tokenizer, template and facts; no weights */
  void* user;
  int (*progress)(void* user, float done);                            /* 0: give up, INLAY_CANCELLED */
  void (*log)(void* user, inlay_level level, inlay_text message);
  void (*parallel)(void* user, int32_t n, void (*body)(void* context, int32_t i), void* context); /* body once for each i */
  void* (*alloc)(void* user, size_t bytes, size_t alignment);         /* for all but handles; NULL: out of memory */
  void (*release)(void* user, void* memory, size_t bytes, size_t alignment); /* alloc and release: both or neither */
  int32_t reuse_prefixes;               /* keep what sessions have read for prompts that begin alike */
  uint64_t disk_bytes;                  /* when cache_bytes are taken, what was not used for long goes to a nameless file */
  inlay_text disk_folder;               /* in this folder, of at most so many bytes; 0: none */
  int32_t contiguous;                   /* each session's keys and values in one range of addresses; nothing is shared */
  inlay_weight_place weights;
  int32_t heads;                        /* load what of the file guesses later tokens (Medusa, MTP); sessions then ask it */
} inlay_load;
#define INLAY_LOAD_INIT \
  { sizeof(inlay_load), {0, 0}, {0, 0}, 0, 0, 0, INLAY_CACHE_AUTOMATIC, INLAY_CACHE_AUTOMATIC, 32, 0, 0, 0, 0, 0, 0, 0, 1, 0, {0, 0}, 0, INLAY_WEIGHTS_MEMORY, 0 }

/* Facts about a loaded model; the texts live as long as it does. */
typedef struct inlay_info {
  size_t size;
  inlay_text name, architecture, quantization, license, chat_template, device, isa;
  uint64_t parameters, bytes;
  int32_t vocabulary, width, layers, context, threads;
  int32_t bos, eos;                     /* -1: none */
  int32_t encoder;                      /* embeds texts, and generates none */
  int32_t encoder_decoder;              /* reads a source, then writes: a prompt is the source, and begins anew */
} inlay_info;
#define INLAY_INFO_INIT \
  { sizeof(inlay_info), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, 0, 0, 0, 0, 0, 0, -1, -1, 0, 0 }

/* Bytes that a model takes: weights, scratch, and the cache, per_token * tokens rounded up to segments, and states. */
typedef struct inlay_plan { uint64_t weights, scratch, page, per_token, segment, states; } inlay_plan;

INLAY_API uint32_t inlay_version(void); /* 0x000100 is 0.1.0 */
INLAY_API inlay_status inlay_model_load(inlay_text path, const inlay_load*, inlay_model** out, inlay_error*);
INLAY_API inlay_status inlay_model_load_memory(const void* file, size_t bytes, const inlay_load*, inlay_model** out,
                                               inlay_error*); /* the file must outlive the model and its sessions */
INLAY_API inlay_status inlay_model_plan(inlay_text path, const inlay_load*, inlay_plan* out, inlay_error*);
/* Shows the name of each tensor of the file that its architecture never asks for; loads nothing. */
INLAY_API inlay_status inlay_model_unused_tensors(inlay_text path, const inlay_load*,
                                                  void (*show)(void* user, inlay_text name), void* user, inlay_error*);
INLAY_API inlay_status inlay_model_info(const inlay_model*, inlay_info* out, inlay_error*);
INLAY_API inlay_status inlay_model_trim(const inlay_model*, inlay_error*); /* gives unused pages back */
INLAY_API void inlay_model_free(inlay_model*); /* sessions keep what they need */

enum { INLAY_ADD_SPECIALS = 1, INLAY_PARSE_SPECIALS = 2 };   /* flags of inlay_tokenize */
enum { INLAY_REMOVE_SPECIALS = 1, INLAY_SHOW_SPECIALS = 2 }; /* flags of inlay_detokenize */
INLAY_API inlay_status inlay_tokenize(const inlay_model*, inlay_text, uint32_t flags, int32_t* tokens, size_t capacity,
                                      size_t* count, inlay_error*);
INLAY_API inlay_status inlay_detokenize(const inlay_model*, const int32_t* tokens, size_t n, uint32_t flags, char* bytes,
                                        size_t capacity, size_t* count, inlay_error*);
/* Calls `show` with what a stream shows after each token, whole characters only, and once more with what is left. */
INLAY_API inlay_status inlay_detokenize_stream(const inlay_model*, const int32_t* tokens, size_t n,
                                               void (*show)(void* user, inlay_text), void* user, inlay_error*);
INLAY_API inlay_status inlay_piece(const inlay_model*, int32_t token, int show_special, char* bytes, size_t capacity,
                                   size_t* count, inlay_error*);

/* How the rows of a text's tokens become one. */
typedef enum inlay_pooling {
  INLAY_POOLING_MODEL, INLAY_POOLING_NONE, INLAY_POOLING_MEAN, INLAY_POOLING_CLS, INLAY_POOLING_LAST
} inlay_pooling;

/* What a model makes of a text: rows of `width` numbers, one or, without pooling, one for each token. A decoder's pooling
   must be chosen where its file names none. */
INLAY_API inlay_status inlay_embed(const inlay_model*, inlay_text, inlay_pooling pooling, int normalize, float* rows,
                                   size_t capacity, size_t* count, inlay_error*);
INLAY_API inlay_status inlay_embed_tokens(const inlay_model*, const int32_t* tokens, size_t n, inlay_pooling pooling,
                                          int normalize, float* rows, size_t capacity, size_t* count, inlay_error*);
/* Writes n scores: how well each document answers the query, by a model that judges pairs of texts; more is better. */
INLAY_API inlay_status inlay_rerank(const inlay_model*, inlay_text query, const inlay_text* documents, size_t n,
                                    float* scores, inlay_error*);

#ifdef __cplusplus
}
#endif

#endif

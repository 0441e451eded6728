/* Inlay for C, and for every language that can call C.
 *
 * Handles are opaque and freed by their _free, which takes NULL too. Functions that can fail return inlay_status and
 * fill the caller's inlay_error, which may be NULL. Structs that may grow begin with `size`: make them with
 * INLAY_..._INIT. Texts are UTF-8 with a length and never owned by the receiver; what a function is given, it copies
 * before it returns. A list is written into the caller's memory, at most `capacity` elements of it, and `*count` is how
 * many there are. Nothing is printed. A model may be used from any thread, a session and its generations from one at a
 * time. */
#ifndef INLAY_H
#define INLAY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inlay/version.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef enum inlay_status {
  INLAY_OK = 0, INLAY_IO, INLAY_FORMAT, INLAY_UNSUPPORTED, INLAY_MEMORY, INLAY_DEVICE, INLAY_ARGUMENT, INLAY_CANCELLED,
  INLAY_DONE = 100 /* inlay_next: nothing more to come */
} inlay_status;

/* What is wrong with an input, finer than the status. */
typedef enum inlay_fault {
  INLAY_FAULT_NONE, INLAY_FAULT_TRUNCATED, INLAY_FAULT_BAD_MAGIC, INLAY_FAULT_BAD_VERSION, INLAY_FAULT_BAD_ENDIAN,
  INLAY_FAULT_BAD_COUNT, INLAY_FAULT_BAD_STRING, INLAY_FAULT_BAD_TYPE, INLAY_FAULT_BAD_ALIGNMENT, INLAY_FAULT_BAD_DIMS,
  INLAY_FAULT_OVERFLOW, INLAY_FAULT_OUT_OF_BOUNDS, INLAY_FAULT_DUPLICATE, INLAY_FAULT_MISSING_KEY,
  INLAY_FAULT_MISSING_TENSOR, INLAY_FAULT_WRONG_TYPE, INLAY_FAULT_BAD_VALUE, INLAY_FAULT_INCONSISTENT,
  INLAY_FAULT_UNSUPPORTED, INLAY_FAULT_LIMIT
} inlay_fault;

/* Why a generation ended. */
typedef enum inlay_finish {
  INLAY_FINISH_RUNNING, INLAY_FINISH_END_OF_TEXT, INLAY_FINISH_STOP_TEXT, INLAY_FINISH_CONSTRAINT_DONE,
  INLAY_FINISH_TOKEN_LIMIT, INLAY_FINISH_CONTEXT_FULL, INLAY_FINISH_DEADLINE, INLAY_FINISH_CANCELLED
} inlay_finish;

typedef enum inlay_level { INLAY_DEBUG, INLAY_INFO, INLAY_WARNING, INLAY_ERROR } inlay_level;

/* How keys and values are kept between steps. */
typedef enum inlay_cache_type {
  INLAY_CACHE_F16, INLAY_CACHE_F32, INLAY_CACHE_BF16, INLAY_CACHE_Q8_0, INLAY_CACHE_Q4_0
} inlay_cache_type;

typedef enum inlay_sampler_step {
  INLAY_STEP_BIAS, INLAY_STEP_PENALTIES, INLAY_STEP_DRY, INLAY_STEP_TOP_N_SIGMA, INLAY_STEP_TOP_K, INLAY_STEP_TYPICAL_P,
  INLAY_STEP_TOP_P, INLAY_STEP_MIN_P, INLAY_STEP_XTC, INLAY_STEP_INFILL, INLAY_STEP_TEMPERATURE
} inlay_sampler_step;

/* `message` is one sentence; `where` is the key, tensor, field or line:column at fault. Both may be cut, never in a character. */
typedef struct inlay_error { inlay_status status; inlay_fault fault; char where[120]; char message[384]; } inlay_error;
typedef struct inlay_text { const char* data; size_t size; } inlay_text;

/* A C string as a text; NULL is the empty one. */
static inline inlay_text inlay_string(const char* string) {
  inlay_text text;
  text.data = string;
  text.size = string ? strlen(string) : 0;
  return text;
}

typedef struct inlay_model inlay_model;
typedef struct inlay_session inlay_session;
typedef struct inlay_generation inlay_generation;
typedef struct inlay_batcher inlay_batcher; /* many sessions, one forward pass at a time */
typedef struct inlay_chat inlay_chat;
typedef struct inlay_grammar inlay_grammar;
typedef struct inlay_stop inlay_stop; /* asks generations to end, from any thread */

/* ---- models */

/* How a model is loaded. `user` is handed to every function here; a function that is NULL is not called. */
typedef struct inlay_load {
  size_t size;
  inlay_text device;                    /* empty: the best that works */
  inlay_text isa;                       /* force "avx2", "baseline", "reference", ... */
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
  void* (*alloc)(void* user, size_t bytes, size_t alignment);         /* weights, cache, scratch; NULL: out of memory */
  void (*release)(void* user, void* memory, size_t bytes, size_t alignment); /* alloc and release: both or neither */
  int32_t reuse_prefixes;               /* keep what sessions have read for prompts that begin alike */
} inlay_load;
#define INLAY_LOAD_INIT \
  { sizeof(inlay_load), {0, 0}, {0, 0}, 0, 0, 0, INLAY_CACHE_F16, INLAY_CACHE_F16, 32, 0, 0, 0, 0, 0, 0, 0, 1 }

/* Facts about a loaded model; the texts live as long as it does. */
typedef struct inlay_info {
  size_t size;
  inlay_text name, architecture, quantization, license, chat_template, device, isa;
  uint64_t parameters, bytes;
  int32_t vocabulary, width, layers, context, threads;
  int32_t bos, eos;                     /* -1: none */
  int32_t encoder;                      /* embeds texts, and generates none */
} inlay_info;
#define INLAY_INFO_INIT \
  { sizeof(inlay_info), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, 0, 0, 0, 0, 0, 0, -1, -1, 0 }

/* Bytes a model takes on the host: weights + scratch + per_token * tokens. */
typedef struct inlay_plan { uint64_t weights, scratch, page, per_token; } inlay_plan;

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

/* What an encoder makes of a text: rows of `width` numbers, one or, without pooling, one for each token. */
INLAY_API inlay_status inlay_embed(const inlay_model*, inlay_text, inlay_pooling pooling, int normalize, float* rows,
                                   size_t capacity, size_t* count, inlay_error*);
INLAY_API inlay_status inlay_embed_tokens(const inlay_model*, const int32_t* tokens, size_t n, inlay_pooling pooling,
                                          int normalize, float* rows, size_t capacity, size_t* count, inlay_error*);

/* ---- sessions */

/* What a generation does when the context is full: end, or drop half of the tokens after the first `keep` and go on. */
typedef enum inlay_when_full { INLAY_WHEN_FULL_STOP, INLAY_WHEN_FULL_DROP } inlay_when_full;

/* How a session behaves. */
typedef struct inlay_session_options {
  size_t size;
  inlay_text salt;                      /* only sessions of the same salt share what they have read */
  inlay_when_full when_full;
  int32_t keep;                         /* tokens at the beginning that are never dropped */
} inlay_session_options;
#define INLAY_SESSION_OPTIONS_INIT { sizeof(inlay_session_options), {0, 0}, INLAY_WHEN_FULL_STOP, 4 }

/* NULL for the options: the usual ones. */
INLAY_API inlay_status inlay_session_new(const inlay_model*, const inlay_session_options*, inlay_session** out,
                                         inlay_error*);
INLAY_API inlay_status inlay_session_fork(const inlay_session*, inlay_session** out, inlay_error*);
INLAY_API inlay_status inlay_session_tokens(const inlay_session*, int32_t* tokens, size_t capacity, size_t* count,
                                            inlay_error*);
INLAY_API inlay_status inlay_session_room(const inlay_session*, size_t* tokens, inlay_error*);
INLAY_API inlay_status inlay_session_rewind(inlay_session*, size_t length, inlay_error*);
/* Forgets tokens in the middle and moves those after them; what follows is near to what a session without them says. */
INLAY_API inlay_status inlay_session_drop(inlay_session*, size_t first, size_t count, inlay_error*);
/* Appends tokens and writes their logits, [wanted, vocabulary]; no wanted positions: those after the last token. */
INLAY_API inlay_status inlay_session_evaluate(inlay_session*, const int32_t* tokens, size_t n, const int32_t* wanted,
                                              size_t wanted_count, float* logits, size_t capacity, inlay_error*);
INLAY_API inlay_status inlay_session_score(inlay_session*, inlay_text, double* log_probability, inlay_error*);
/* Writes the tokens and what the model keeps of them. A file is replaced in one move. */
INLAY_API inlay_status inlay_session_save(const inlay_session*, inlay_text path, inlay_error*);
INLAY_API inlay_status inlay_session_save_memory(const inlay_session*, void* bytes, size_t capacity, size_t* count,
                                                 inlay_error*);
INLAY_API inlay_status inlay_session_restore(const inlay_model*, inlay_text path, const inlay_session_options*,
                                             inlay_session** out, inlay_error*);
INLAY_API inlay_status inlay_session_restore_memory(const inlay_model*, const void* saved, size_t bytes,
                                                    const inlay_session_options*, inlay_session** out, inlay_error*);
INLAY_API void inlay_session_free(inlay_session*);

/* ---- grammars: a language that the output must belong to; may be freed while generations use it */

typedef enum inlay_grammar_kind {
  INLAY_GRAMMAR_JSON_SCHEMA, /* a keyword that cannot be honoured is an error */
  INLAY_GRAMMAR_JSON_SCHEMA_LENIENT, /* ... is ignored */
  INLAY_GRAMMAR_REGEX, INLAY_GRAMMAR_GBNF
} inlay_grammar_kind;

INLAY_API inlay_status inlay_grammar_new(inlay_grammar_kind, inlay_text source, inlay_grammar** out, inlay_error*);
INLAY_API inlay_status inlay_grammar_json(inlay_grammar** out, inlay_error*); /* any JSON value */
INLAY_API inlay_status inlay_grammar_choice(const inlay_text* texts, size_t n, inlay_grammar** out, inlay_error*);
/* How a text stands to a grammar: it cannot belong to it, more must follow, or it belongs to it as it is. */
typedef enum inlay_match { INLAY_MATCH_NONE, INLAY_MATCH_PREFIX, INLAY_MATCH_WHOLE } inlay_match;
INLAY_API inlay_status inlay_grammar_match(const inlay_grammar*, inlay_text, inlay_match* out, inlay_error*);
INLAY_API void inlay_grammar_free(inlay_grammar*);

/* ---- generations */

/* Something added to the logit of one token; -INFINITY forbids it. */
typedef struct inlay_bias { int32_t id; float logit; } inlay_bias;

/* How the next token is chosen; sampler.hpp says what each number does. Steps run in the order of these fields, or in
 * that of `order`. */
typedef struct inlay_sampler {
  size_t size;
  const inlay_grammar* grammar;         /* NULL: any text */
  void* user;
  void (*adjust)(void* user, float* logits, size_t vocabulary, const int32_t* so_far, size_t n); /* change logits */
  const inlay_bias* bias; size_t bias_count;
  float repeat_penalty;                 /* 1: none */
  float frequency_penalty, presence_penalty; /* 0: none */
  int32_t repeat_window;                /* tokens looked back at; -1: all */
  float dry_multiplier, dry_base;       /* multiplier 0: off */
  int32_t dry_allowed, dry_window;
  const inlay_text* dry_breakers; size_t dry_breakers_count; /* NULL: the usual ones */
  float top_n_sigma;                    /* 0: all */
  int32_t top_k;                        /* 0: all */
  float typical_p, top_p;               /* 1: all */
  float min_p;                          /* 0: all */
  float xtc_probability, xtc_threshold; /* probability 0: off */
  float temperature;                    /* 0: always the likeliest token */
  float temperature_range, temperature_exponent; /* range 0: fixed */
  int32_t mirostat;                     /* 0: off, 1, 2 */
  float mirostat_tau, mirostat_eta;
  float adaptive_target, adaptive_decay; /* target below 0: off */
  int32_t min_keep;
  uint64_t seed;
  int32_t seeded;                       /* 0: a fresh seed each time */
  const inlay_sampler_step* order;
  size_t order_count;
} inlay_sampler;
#define INLAY_SAMPLER_INIT \
  { sizeof(inlay_sampler), 0, 0, 0, 0, 0, 1.0f, 0.0f, 0.0f, 64, 0.0f, 1.75f, 2, 64, 0, 0, 0.0f, 40, 1.0f, 0.95f, 0.05f, \
    0.0f, 0.1f, 0.8f, 0.0f, 1.0f, 0, 5.0f, 0.1f, -1.0f, 0.9f, 0, 0, 0, 0, 0 }

/* The steps that will run, in their order, with their values. */
INLAY_API inlay_status inlay_sampler_describe(const inlay_sampler*, char* bytes, size_t capacity, size_t* count,
                                              inlay_error*);

/* When a generation ends, besides the model's own end of text. */
typedef struct inlay_limits {
  size_t size;
  int32_t tokens;                       /* -1: while the context has room */
  int32_t top_logprobs;                 /* alternatives reported with each token */
  int64_t deadline_ms;                  /* from the call, the reading of the prompt included; 0: none */
  const inlay_text* stop;               /* ends before the first of these; never emitted, not even in part */
  size_t stop_count;
  inlay_stop* cancel;                   /* NULL: none */
  int32_t parse_specials;               /* text that spells a control token becomes that token */
  int32_t ignore_end;                   /* end-of-text tokens do not end the generation */
  void* user;
  void (*progress)(void* user, int32_t done, int32_t of); /* while the prompt is read, in tokens */
} inlay_limits;
#define INLAY_LIMITS_INIT { sizeof(inlay_limits), -1, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct inlay_alternative { int32_t id; float logprob; } inlay_alternative;

/* `text` is whole UTF-8 characters, so sometimes empty; it and the alternatives live until the next call. */
typedef struct inlay_token {
  int32_t id;
  float logprob;
  inlay_text text;
  const inlay_alternative* alternatives;
  size_t alternative_count;
} inlay_token;

/* Why no more of a prompt was reused. */
typedef enum inlay_reuse_end {
  INLAY_REUSE_NOT_ASKED, INLAY_REUSE_WHOLE, INLAY_REUSE_DIFFERS, INLAY_REUSE_UNKNOWN, INLAY_REUSE_OFF,
  INLAY_REUSE_NO_STATE
} inlay_reuse_end;

typedef struct inlay_stats {
  int32_t prompt_tokens, reused_tokens, known_tokens, generated_tokens, dropped_tokens;
  inlay_reuse_end reuse_end;
  double prompt_seconds, generate_seconds;
} inlay_stats;

/* How the next token would be chosen: calls `step` with the model's own distribution as "model", then with what each step
 * of the sampler leaves, under its name, the `top` likeliest of each. The session is left as it was. */
INLAY_API inlay_status inlay_session_explain(inlay_session*, const inlay_sampler*, int32_t top,
                                             void (*step)(void* user, inlay_text name, const inlay_alternative* candidates,
                                                          size_t n),
                                             void* user, inlay_error*);

/* Reads the prompt, then generates. NULL for sampler or limits: the usual ones. */
INLAY_API inlay_status inlay_generate(inlay_session*, inlay_text prompt, const inlay_sampler*, const inlay_limits*,
                                      inlay_generation** out, inlay_error*);
INLAY_API inlay_status inlay_generate_tokens(inlay_session*, const int32_t* prompt, size_t n, const inlay_sampler*,
                                             const inlay_limits*, inlay_generation** out, inlay_error*);
INLAY_API inlay_status inlay_next(inlay_generation*, inlay_token* out, inlay_error*); /* INLAY_OK, INLAY_DONE or an error */
INLAY_API inlay_finish inlay_generation_finish(const inlay_generation*);
INLAY_API inlay_stats inlay_generation_stats(const inlay_generation*);
INLAY_API size_t inlay_generation_text_end(const inlay_generation*); /* bytes of text shown so far */
INLAY_API void inlay_generation_free(inlay_generation*);             /* before the end: a cancel */

INLAY_API inlay_status inlay_stop_new(inlay_stop** out, inlay_error*);
INLAY_API void inlay_stop_request(inlay_stop*); /* every generation that was given it ends as cancelled */
INLAY_API void inlay_stop_free(inlay_stop*);

/* ---- chats: sessions that speak in turns, through the model's own template */

/* Whether a model thinks before it answers; usual: as its template does unless it is told otherwise. */
typedef enum inlay_reasoning { INLAY_REASONING_USUAL, INLAY_REASONING_ON, INLAY_REASONING_OFF } inlay_reasoning;

typedef struct inlay_chat_options {
  size_t size;
  inlay_text system;                    /* what the model is told before the first turn */
  inlay_text tools;                     /* a JSON list; the arguments of calls are held to their schemas */
  inlay_text tool_choice;               /* empty or "auto", "none", "required", or the name of the one tool */
  inlay_text variables;                 /* a JSON object of further variables of the template */
  inlay_reasoning reasoning;
  int32_t reasoning_tokens;             /* then the reasoning is ended; -1: never */
  int64_t now;                          /* seconds since 1970 UTC that the template's clock shows; -1: the real time */
} inlay_chat_options;
#define INLAY_CHAT_OPTIONS_INIT \
  { sizeof(inlay_chat_options), {0, 0}, {0, 0}, {0, 0}, {0, 0}, INLAY_REASONING_USUAL, -1, -1 }

/* A piece of a reply. */
typedef enum inlay_part_kind {
  INLAY_PART_ANSWER, INLAY_PART_REASONING, INLAY_PART_TOOL_NAME, INLAY_PART_TOOL_ARGUMENTS,
  INLAY_PART_ANSWER_WAS_REASONING /* the answer so far belongs to the reasoning: only its end was marked */
} inlay_part_kind;
typedef struct inlay_reply_part { inlay_part_kind kind; inlay_text text; } inlay_reply_part; /* until the next call */
typedef struct inlay_reply inlay_reply;

INLAY_API inlay_status inlay_chat_new(const inlay_model*, const inlay_chat_options*, inlay_chat** out, inlay_error*);
INLAY_API inlay_status inlay_chat_say(inlay_chat*, inlay_text, const inlay_sampler*, const inlay_limits*,
                                      inlay_reply** out, inlay_error*);
/* Answers the messages as they stand, after inlay_chat_add or inlay_chat_edit. */
INLAY_API inlay_status inlay_chat_answer(inlay_chat*, const inlay_sampler*, const inlay_limits*, inlay_reply** out,
                                         inlay_error*);
INLAY_API inlay_status inlay_reply_next(inlay_reply*, inlay_reply_part* out, inlay_error*); /* as inlay_next */
INLAY_API inlay_finish inlay_reply_finish(const inlay_reply*);
INLAY_API inlay_stats inlay_reply_stats(const inlay_reply*);
INLAY_API void inlay_reply_free(inlay_reply*); /* before the end: a cancel */

/* One turn; `fields` is what else the template may see of it, as a JSON object: name, tool_call_id, ... */
typedef struct inlay_message { inlay_text role, content, fields, reasoning; } inlay_message;
/* A call of a tool; `arguments` is a JSON object, and `id` is by what its result is told. */
typedef struct inlay_tool_call { inlay_text name, arguments, id; } inlay_tool_call;
INLAY_API inlay_status inlay_chat_add(inlay_chat*, inlay_message, inlay_error*);
INLAY_API inlay_status inlay_chat_edit(inlay_chat*, size_t turn, inlay_text, inlay_error*); /* forgets the turns after it */
INLAY_API size_t inlay_chat_messages(const inlay_chat*); /* how many there are */
INLAY_API inlay_status inlay_chat_message(const inlay_chat*, size_t turn, inlay_message* out, inlay_error*);
INLAY_API size_t inlay_chat_tool_calls(const inlay_chat*, size_t turn); /* how many its message has */
INLAY_API inlay_status inlay_chat_tool_call(const inlay_chat*, size_t turn, size_t call, inlay_tool_call* out,
                                            inlay_error*);
INLAY_API inlay_status inlay_chat_add_result(inlay_chat*, inlay_tool_call, inlay_text result, inlay_error*);
INLAY_API void inlay_chat_free(inlay_chat*);

/* ---- batches: requests of many sessions, served together in one forward pass at a time */

typedef struct inlay_batch_options {
  size_t size;
  int32_t tokens_per_step;              /* read and written in one forward pass, all requests together */
  int32_t sessions_at_once;             /* the others wait */
  int32_t sessions_per_tenant;          /* of those at once; 0: as many as there are */
  double steps_of_delay;                /* a step that reads prompts beside requests that write takes about so many
                                           times as long as one that only writes; 0: no limit */
  int32_t keep_open;                    /* when all work is done, inlay_batch_next waits for more until a close */
} inlay_batch_options;
#define INLAY_BATCH_OPTIONS_INIT { sizeof(inlay_batch_options), 512, 64, 0, 3.0, 0 }

/* A request's place among others: higher priorities go first, and whoever waits long rises. */
typedef struct inlay_standing { int32_t priority; uint64_t tenant; } inlay_standing;

typedef struct inlay_event {
  uint64_t id;
  inlay_token token;                    /* lives until the next event; id -1: the request ended without another token */
  inlay_finish finish;                  /* running, or why this is its last event */
  inlay_text error;                     /* not empty: the request failed; the others go on */
  inlay_stats stats;                    /* so far; prompt_seconds count from the submission, waiting included */
} inlay_event;

/* One thread at a time calls _next; _submit, _cancel and _close may come from any thread meanwhile. A session belongs to
 * the batch from its submission to its last event. Freeing the batch ends its requests where they are. */
INLAY_API inlay_status inlay_batch_new(const inlay_model*, const inlay_batch_options*, inlay_batcher** out, inlay_error*);
INLAY_API inlay_status inlay_batch_submit(inlay_batcher*, inlay_session*, inlay_text prompt, const inlay_sampler*,
                                          const inlay_limits*, inlay_standing, uint64_t* id, inlay_error*);
INLAY_API inlay_status inlay_batch_submit_tokens(inlay_batcher*, inlay_session*, const int32_t* prompt, size_t n,
                                                 const inlay_sampler*, const inlay_limits*, inlay_standing, uint64_t* id,
                                                 inlay_error*);
INLAY_API inlay_status inlay_batch_cancel(inlay_batcher*, uint64_t id, inlay_error*);
INLAY_API inlay_status inlay_batch_close(inlay_batcher*, inlay_error*);
INLAY_API inlay_status inlay_batch_next(inlay_batcher*, inlay_event* out, inlay_error*); /* INLAY_OK, INLAY_DONE or an error */
INLAY_API void inlay_batch_free(inlay_batcher*);

#ifdef __cplusplus
}
#endif

#endif

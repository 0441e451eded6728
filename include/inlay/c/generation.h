/* Generations: read a prompt, then write token by token. */
#ifndef INLAY_C_GENERATION_H
#define INLAY_C_GENERATION_H

#include "inlay/c/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct inlay_generation inlay_generation;
typedef struct inlay_stop inlay_stop; /* asks generations to end, from any thread */

/* Why a generation ended. */
typedef enum inlay_finish {
  INLAY_FINISH_RUNNING, INLAY_FINISH_END_OF_TEXT, INLAY_FINISH_STOP_TEXT, INLAY_FINISH_CONSTRAINT_DONE,
  INLAY_FINISH_TOKEN_LIMIT, INLAY_FINISH_CONTEXT_FULL, INLAY_FINISH_DEADLINE, INLAY_FINISH_CANCELLED,
  INLAY_FINISH_GUARDED
} inlay_finish;

/* What a guard says of a text: it may be shown; not; not, and the generation ends. */
typedef enum inlay_verdict { INLAY_VERDICT_ALLOW, INLAY_VERDICT_REDACT, INLAY_VERDICT_STOP } inlay_verdict;

/* Looks at the text before it is shown; sampler.hpp says what each function sees. NULL: everything is allowed. */
typedef struct inlay_guard {
  size_t size;
  void* user;
  inlay_verdict (*on_prompt)(void* user, inlay_text);
  inlay_verdict (*on_text)(void* user, inlay_text recent);
  inlay_verdict (*on_finish)(void* user, inlay_text);
  int32_t window;                       /* bytes held back; -1: all of them, until the end */
} inlay_guard;
#define INLAY_GUARD_INIT { sizeof(inlay_guard), 0, 0, 0, 0, 256 }

/* When a generation ends, besides the model's own end of text. */
typedef struct inlay_limits {
  size_t size;
  int32_t tokens;                       /* -1: while the context has room */
  int32_t top_logprobs;                 /* alternatives reported with each token */
  int64_t deadline_ms;                  /* from the call, the reading of the prompt included; 0: none */
  const inlay_text* stop;               /* ends before the first of these; never emitted, not even in part */
  size_t stop_count;
  inlay_stop* cancel;                   /* NULL: none; seen between layers: at most one goes on, of 512 tokens */
  int32_t parse_specials;               /* text that spells a control token becomes that token */
  int32_t ignore_end;                   /* end-of-text tokens do not end the generation */
  void* user;
  void (*progress)(void* user, int32_t done, int32_t of); /* while the prompt is read, in tokens */
  const inlay_guard* guard;             /* NULL: none */
} inlay_limits;
#define INLAY_LIMITS_INIT { sizeof(inlay_limits), -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

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

/* Whether tokens were guessed ahead and read together; NO_STATE: not for this model, whose state cannot go back. */
typedef enum inlay_speculation {
  INLAY_SPECULATION_OFF, INLAY_SPECULATION_ON, INLAY_SPECULATION_NO_STATE
} inlay_speculation;

typedef struct inlay_stats {
  int32_t prompt_tokens, reused_tokens, known_tokens, generated_tokens, dropped_tokens, dropped_messages;
  inlay_reuse_end reuse_end;
  inlay_speculation speculation;
  int32_t drafted_tokens, accepted_tokens; /* guessed; chosen by the sampler too */
  double prompt_seconds, generate_seconds;
} inlay_stats;

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

#ifdef __cplusplus
}
#endif

#endif

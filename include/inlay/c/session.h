/* Sessions: tokens a model has read; forked, rewound, saved. */
#ifndef INLAY_C_SESSION_H
#define INLAY_C_SESSION_H

#include "inlay/c/model.h"
#include "inlay/c/sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct inlay_session inlay_session;

/* What a generation does when the context is full: end, or go on without the oldest of what came after the beginning. */
typedef enum inlay_when_full { INLAY_WHEN_FULL_STOP, INLAY_WHEN_FULL_DROP } inlay_when_full;

/* How a session behaves. */
typedef struct inlay_session_options {
  size_t size;
  inlay_text salt;                      /* only sessions of the same salt share what they have read */
  inlay_when_full when_full;
  int32_t keep;                         /* tokens at the beginning that are never dropped */
  int32_t drop;                         /* those after them that are dropped at once; 0: half; few: a sliding window */
  int32_t speculate;                    /* guess tokens ahead where that pays; the text stays the same */
  const inlay_model* draft;             /* a smaller model that guesses, too; NULL: none */
} inlay_session_options;
#define INLAY_SESSION_OPTIONS_INIT { sizeof(inlay_session_options), {0, 0}, INLAY_WHEN_FULL_STOP, 4, 0, 1, 0 }

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
/* Lets the encoder of an encoder-decoder read tokens: what the session writes from now on is written in view of them. */
INLAY_API inlay_status inlay_session_read_source(inlay_session*, const int32_t* tokens, size_t n, inlay_error*);
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

typedef struct inlay_alternative { int32_t id; float logprob; } inlay_alternative;

/* How the next token would be chosen: calls `step` with the model's own distribution as "model", then with what each step
 * of the sampler leaves, under its name, the `top` likeliest of each. The session is left as it was. */
INLAY_API inlay_status inlay_session_explain(inlay_session*, const inlay_sampler*, int32_t top,
                                             void (*step)(void* user, inlay_text name, const inlay_alternative* candidates,
                                                          size_t n),
                                             void* user, inlay_error*);

#ifdef __cplusplus
}
#endif

#endif

/* Batches: requests of many sessions, served together in one forward pass at a time. */
#ifndef INLAY_C_BATCH_H
#define INLAY_C_BATCH_H

#include "inlay/c/generation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct inlay_batcher inlay_batcher; /* many sessions, one forward pass at a time */

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

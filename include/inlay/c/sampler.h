/* Samplers: how the next token is chosen. */
#ifndef INLAY_C_SAMPLER_H
#define INLAY_C_SAMPLER_H

#include "inlay/c/grammar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef enum inlay_sampler_step {
  INLAY_STEP_BIAS, INLAY_STEP_PENALTIES, INLAY_STEP_DRY, INLAY_STEP_TOP_N_SIGMA, INLAY_STEP_TOP_K, INLAY_STEP_TYPICAL_P,
  INLAY_STEP_TOP_P, INLAY_STEP_MIN_P, INLAY_STEP_XTC, INLAY_STEP_INFILL, INLAY_STEP_TEMPERATURE
} inlay_sampler_step;

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

#ifdef __cplusplus
}
#endif

#endif

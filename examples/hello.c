/* The shortest useful program in C: load a model, and print what it says. */
#include <stdio.h>

#include "inlay/inlay.h"

int main(int argc, char** argv) {
  const char* prompt = "Once upon a time";
  inlay_model* model = NULL;
  inlay_session* session = NULL;
  inlay_generation* generation = NULL;
  inlay_sampler sampler = INLAY_SAMPLER_INIT;
  inlay_limits limits = INLAY_LIMITS_INIT;
  inlay_error error;
  inlay_token token;
  sampler.seed = sampler.seeded = 1;
  limits.tokens = 48;
  inlay_status status = inlay_model_load(inlay_string(argc > 1 ? argv[1] : "model.gguf"), NULL, &model, &error);
  if (!status) status = inlay_session_new(model, NULL, &session, &error);
  if (!status) {
    status = inlay_generate(session, inlay_string(prompt), &sampler, &limits, &generation, &error);
  }
  if (!status) fputs(prompt, stdout);
  while (!status && !(status = inlay_next(generation, &token, &error)))
    fwrite(token.text.data, 1, token.text.size, stdout);
  putchar('\n');
  if (status != INLAY_DONE) fprintf(stderr, "%s\n", error.message);
  inlay_generation_free(generation);
  inlay_session_free(session);
  inlay_model_free(model);
  return status != INLAY_DONE;
}

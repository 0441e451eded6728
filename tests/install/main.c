/* A host application in C. */
#include <inlay/inlay.h>
#include <stdio.h>

int main(int argc, char** argv) {
  inlay_model* model = NULL;
  inlay_info info = INLAY_INFO_INIT;
  inlay_error error;
  if (inlay_model_load(inlay_string(argc > 1 ? argv[1] : "model.gguf"), NULL, &model, &error) ||
      inlay_model_info(model, &info, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  printf("%.*s: %d layers\n", (int)info.name.size, info.name.data, (int)info.layers);
  inlay_model_free(model);
  return 0;
}

/* A folder of Hugging Face's transformers written as a GGUF file. */
#ifndef INLAY_C_CONVERT_H
#define INLAY_C_CONVERT_H

#include "inlay/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How matrices are stored; source: as the folder has them. */
/* clang-format off */
typedef enum inlay_weight_type {
  INLAY_WEIGHT_SOURCE, INLAY_WEIGHT_F32, INLAY_WEIGHT_F16, INLAY_WEIGHT_BF16, INLAY_WEIGHT_Q8_0
} inlay_weight_type;
/* clang-format on */

/* `progress` may be NULL, and gets `user`; it returns 0 to give up: INLAY_CANCELLED. On errors, `out` is as it was. */
INLAY_API inlay_status inlay_convert(inlay_text folder, inlay_text out, inlay_weight_type type,
                                     int (*progress)(void* user, float done), void* user, inlay_error*);

#ifdef __cplusplus
}
#endif

#endif

/* Errors and texts, as every function of the C door gives and takes them. */
#ifndef INLAY_C_ERROR_H
#define INLAY_C_ERROR_H

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

#ifdef __cplusplus
}
#endif

#endif

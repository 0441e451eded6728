/* Grammars: a language that the output must belong to; may be freed while generations use it. */
#ifndef INLAY_C_GRAMMAR_H
#define INLAY_C_GRAMMAR_H

#include "inlay/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct inlay_grammar inlay_grammar;

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

#ifdef __cplusplus
}
#endif

#endif

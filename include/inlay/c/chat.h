/* Chats: sessions that speak in turns, through the model's own template. */
#ifndef INLAY_C_CHAT_H
#define INLAY_C_CHAT_H

#include "inlay/c/generation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct inlay_chat inlay_chat;

/* Whether a model thinks before it answers; usual: as its template does unless it is told otherwise. */
typedef enum inlay_reasoning { INLAY_REASONING_USUAL, INLAY_REASONING_ON, INLAY_REASONING_OFF } inlay_reasoning;

typedef struct inlay_chat_options {
  size_t size;
  inlay_text system;                    /* what the model is told before the first turn */
  inlay_text tools;                     /* a JSON list; the arguments of calls are held to their schemas, as far as
                                           chat.hpp says */
  inlay_text tool_choice;               /* empty or "auto", "none", "required", or the name of the one tool */
  inlay_text variables;                 /* a JSON object of further variables of the template */
  inlay_reasoning reasoning;
  int32_t reasoning_tokens;             /* then the reasoning is ended; -1: never */
  int64_t now;                          /* seconds since 1970 UTC that the template's clock shows; -1: the real time */
  inlay_when_full when_full;            /* drop: whole turns, the oldest first, but never the system's words */
  const inlay_model* draft;             /* a smaller model that guesses, too; NULL: none */
} inlay_chat_options;
#define INLAY_CHAT_OPTIONS_INIT \
  { sizeof(inlay_chat_options), {0, 0}, {0, 0}, {0, 0}, {0, 0}, INLAY_REASONING_USUAL, -1, -1, INLAY_WHEN_FULL_STOP, 0 }

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

#ifdef __cplusplus
}
#endif

#endif

/* Inlay for C, and for every language that can call C: everything in inlay/c.
 *
 * Handles are opaque and freed by their _free, which takes NULL too. Functions that can fail return inlay_status and
 * fill the caller's inlay_error, which may be NULL. Structs that may grow begin with `size`: make them with
 * INLAY_..._INIT. Texts are UTF-8 with a length and never owned by the receiver; what a function is given, it copies
 * before it returns. A list is written into the caller's memory, at most `capacity` elements of it, and `*count` is how
 * many there are. Nothing is printed. A model may be used from any thread, a session and its generations from one at a
 * time. */
#ifndef INLAY_H
#define INLAY_H

#include "inlay/c/batch.h"
#include "inlay/c/chat.h"
#include "inlay/c/convert.h"
#include "inlay/c/error.h"
#include "inlay/c/generation.h"
#include "inlay/c/grammar.h"
#include "inlay/c/model.h"
#include "inlay/c/sampler.h"
#include "inlay/c/session.h"

#endif

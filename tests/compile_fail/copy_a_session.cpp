// A session is moved, never copied: another with the same past is a fork.
#include "inlay/inlay.hpp"

inlay::Session another(const inlay::Session& session) {
#if WRONG == 1
  return session;
#else
  return session.fork();
#endif
}

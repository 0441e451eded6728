// A branch of a session must be named too before it generates, tokens or text.
#include "inlay/inlay.hpp"

std::string branch(const inlay::Session& session, std::span<const inlay::TokenId> tokens) {
#if WRONG == 1
  return session.fork().generate(tokens).text();
#else
  auto other = session.fork();
  return other.generate(tokens).text();
#endif
}

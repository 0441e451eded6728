// A generation runs on a session that has a name: one of a temporary does not compile.
#include "inlay/inlay.hpp"

void speak(const inlay::Model& model) {
#if WRONG == 1
  for (const auto& token : model.session().generate("Hello")) static_cast<void>(token.text);
#else
  auto session = model.session();
  for (const auto& token : session.generate("Hello")) static_cast<void>(token.text);
#endif
}

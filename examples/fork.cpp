// One beginning, several endings: the beginning is read once, and every fork continues it in its own way.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  auto session = model.session();
  session.generate("Once upon a time, there was a brave", {}, {.tokens = 0}).text();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto branch = session.fork();
    std::cout << seed << ": ..." << branch.generate("", {.seed = seed}, {.tokens = 24, .stop = {"."}}).text() << '\n';
  }
}

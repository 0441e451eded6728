// Which of several texts a model finds likeliest after a beginning: no text is made.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  auto session = model.session();
  session.generate("The capital of France is", {}, {.tokens = 0}).text();
  for (std::string_view ending : {" Paris.", " Rome.", " a cat."}) std::cout << session.score(ending) << ending << '\n';
}

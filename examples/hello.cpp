// The shortest useful program: load a model, and print what it says.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  try {
    auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
    auto session = model.session();
    const std::string_view prompt = "Once upon a time";
    std::cout << prompt;
    for (std::string_view text : session.generate(prompt, {.seed = 1}, {.tokens = 48})) std::cout << text << std::flush;
    std::cout << '\n';
  } catch (const inlay::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

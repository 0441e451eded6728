// A host application: the door is included in two files, and twice in this one.
#include <inlay/inlay.hpp>

#include <iostream>

std::string answer(const inlay::Model& model);

int main(int argc, char** argv) {
  const auto text = answer(inlay::Model::load(argc > 1 ? argv[1] : "model.gguf"));
  std::cout << text << '\n';
  return text.empty() ? 1 : 0;
}

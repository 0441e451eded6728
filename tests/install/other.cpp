// The other file of the host application.
#include <inlay/inlay.hpp>

std::string answer(const inlay::Model& model) {
  auto session = model.session();
  return session.generate("Two plus two is", inlay::Sampler::greedy(), {.tokens = 8}).text();
}

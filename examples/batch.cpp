// Eight stories at once: every step makes one token of each, and a request says what it would say alone.
#include <iostream>
#include <map>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  inlay::Batch batch(model);
  std::vector<inlay::Session> sessions;
  std::map<inlay::Batch::Id, std::string> stories;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto& session = sessions.emplace_back(model.session());
    stories[batch.submit(session, "Once upon a time", {.seed = seed}, {.tokens = 32, .stop = {"."}})];
  }
  for (const auto& event : batch) stories[event.id] += event.token.text;
  for (const auto& [id, story] : stories) std::cout << id << ": Once upon a time" << story << ".\n";
}

// A conversation in turns, through the model's own chat template. What was read is not read again.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  inlay::Chat chat(model);
  for (std::string_view question : {"My name is Rosa and my lucky number is 47.", "What is my lucky number?"}) {
    std::cout << "> " << question << '\n';
    auto answer = chat.say(question, inlay::Sampler::greedy());
    for (std::string_view text : answer) std::cout << text << std::flush;
    std::cout << "  (" << answer.stats().reused_tokens << " of " << answer.stats().prompt_tokens << " tokens reused)\n";
  }
}

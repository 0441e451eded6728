// Answers are drawn until one passes a check of yours, and no longer. Every try shares what was read of the question.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  inlay::Chat chat(model);
  chat.say("What is 58 + 67?", {}, {.tokens = 0}).text();  // reads the question and the opening of the answer
  const auto is_right = [](const std::string& answer) { return answer == std::to_string(58 + 67); };
  for (int attempt = 1; attempt <= 20; ++attempt) {
    auto branch = chat.session().fork();
    const auto answer =
        branch.generate("", {.temperature = 1.2f, .seed = std::uint64_t(attempt)}, {.tokens = 8}).text();
    std::cout << answer << (is_right(answer) ? "  right\n" : "  not yet\n");
    if (is_right(answer)) return 0;
  }
  std::cout << "no answer passed\n";
}

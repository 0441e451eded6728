// Self-consistency (Wang et al. 2023): several answers are drawn, and the one that comes most often wins. Drawing stops
// as soon as no other answer can catch up.
#include <algorithm>
#include <iostream>
#include <map>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  inlay::Chat chat(model);
  const inlay::Limits nothing{.tokens = 0};
  chat.say("What is 58 + 67?", {}, nothing).text();  // reads the question and the opening of the answer
  constexpr int most = 15;
  std::map<std::string, int> votes;
  std::string leader;
  int drawn = 0, second = 0;
  do {
    auto branch = chat.session().fork();
    const auto answer = branch.generate("", {.seed = std::uint64_t(drawn)}, {.tokens = 8}).text();
    if (++votes[answer] > votes[leader]) leader = answer;
    second = 0;
    for (const auto& [text, count] : votes)
      if (text != leader) second = std::max(second, count);
  } while (++drawn < most && votes[leader] - second <= most - drawn);
  std::cout << leader << "  (" << votes[leader] << " of " << drawn << " answers)\n";
}

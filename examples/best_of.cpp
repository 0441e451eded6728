// Several endings of one beginning, and the best of them by a measure of yours. The beginning is read once.
#include <algorithm>
#include <functional>
#include <iostream>

#include "inlay/inlay.hpp"

using Score = std::function<double(const std::string&)>;

std::string best_of(int n, const inlay::Session& read, const inlay::Limits& limits, const Score& score) {
  std::string best;
  double highest = 0;
  for (int i = 0; i < n; ++i) {
    auto branch = read.fork();
    auto text = branch.generate("", {.seed = std::uint64_t(i)}, limits).text();
    const double value = score(text);
    if (i == 0 || value > highest) best = std::move(text), highest = value;
  }
  return best;
}

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  auto session = model.session();
  session.generate("Once upon a time, there was a brave", {}, {.tokens = 0}).text();
  // The likeliest, token for token: what the model itself would have said least surprised.
  const auto likelihood = [&](const std::string& text) {
    return session.score(text) / double(std::max<std::size_t>(model.tokenize(text).size(), 1));
  };
  std::cout << best_of(5, session, {.tokens = 24, .stop = {"."}}, likelihood) << '\n';
}

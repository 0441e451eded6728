// A guard that reads along: what it does not like is never shown. With an encoder it judges by meaning, else by a word.
#include <iostream>
#include <numeric>

#include "inlay/inlay.hpp"

using Judge = std::function<inlay::Verdict(std::string_view)>;

// Texts whose direction is near that of the subject.
Judge near(const inlay::Model& encoder, std::string_view subject) {
  return [encoder, forbidden = encoder.embed(subject).values](std::string_view text) {
    const auto said = encoder.embed(text).values;
    const float likeness = std::inner_product(said.begin(), said.end(), forbidden.begin(), 0.0f);
    return likeness > 0.8f ? inlay::Verdict::stop : inlay::Verdict::allow;
  };
}

Judge containing(std::string word) {
  return [word = std::move(word)](std::string_view text) {
    return text.find(word) == text.npos ? inlay::Verdict::allow : inlay::Verdict::stop;
  };
}

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  const auto judge = argc > 2 ? near(inlay::Model::load(argv[2]), "dragons and monsters") : containing("dragon");
  auto session = model.session();
  const inlay::Guard guard{.on_prompt = judge, .on_text = judge, .window = 64};
  auto story = session.generate("Once upon a time", {}, {.tokens = 100, .guard = guard});
  for (std::string_view text : story) std::cout << text << std::flush;
  std::cout << (story.finish() == inlay::Finish::guarded ? " [stopped]\n" : "\n");
}

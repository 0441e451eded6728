// Three ways to end a generation early: a deadline, a stop text, and a request from anywhere.
#include <iostream>

#include "inlay/inlay.hpp"

int main(int argc, char** argv) {
  const auto model = inlay::Model::load(argc > 1 ? argv[1] : "model.gguf");
  auto session = model.session();
  std::stop_source stop;  // its token may be used from any thread
  auto reply =
      session.generate("Tell me a story.", inlay::Sampler::greedy(),
                       {.stop = {"The end"}, .cancel = stop.get_token(), .deadline = std::chrono::seconds(10)});
  std::size_t shown = 0;
  for (std::string_view text : reply) {
    std::cout << text << std::flush;
    if ((shown += text.size()) > 60) stop.request_stop();
  }
  std::cout << (reply.finish() == inlay::Finish::cancelled ? " ...\n" : "\n");
}

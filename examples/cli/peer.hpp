// Another engine's llama-bench, run beside our own measurements.
#pragma once

#include <string>

namespace cli {

// What one run of it is asked for.
struct PeerTest {
  std::string program, model;
  int threads, prompt, generate, depth;  // prompt or generate is 0
};

// Tokens a second of one run; throws std::runtime_error where the program does not say.
double peer_speed(const PeerTest&);

}  // namespace cli

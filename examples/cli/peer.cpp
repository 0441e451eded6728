// Runs llama-bench as a process of its own and reads the JSON it prints.
#include "cli/peer.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "cli/json.hpp"

#ifdef _WIN32
#define popen _popen
#define pclose _pclose
#endif

namespace cli {
namespace {

// As one word of a shell's command.
std::string quoted(const std::string& word) {
#ifdef _WIN32
  return '"' + word + '"';
#else
  std::string out = "'";
  for (const char letter : word) letter == '\'' ? void(out += "'\\''") : void(out += letter);
  return out + "'";
#endif
}

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string text;
  char piece[4096];
  while (const auto n = std::fread(piece, 1, sizeof piece, pipe.get())) text.append(piece, n);
  return text;
}

}  // namespace

double peer_speed(const PeerTest& test) {
  std::string command = quoted(test.program) + " -m " + quoted(test.model) + " -o json -r 1 -fa 1";
  command += " -t " + std::to_string(test.threads) + " -p " + std::to_string(test.prompt);
  command += " -n " + std::to_string(test.generate);
  if (test.depth > 0) command += " -d " + std::to_string(test.depth);
#ifdef _WIN32
  command += " 2>NUL";
#else
  command += " 2>/dev/null";
#endif
  const auto list = Json::parse(output_of(command), nullptr, false);
  if (!list.is_array() || list.empty() || !list[0].contains("avg_ts") || !list[0]["avg_ts"].is_number())
    throw std::runtime_error("no list of results came from " + command);
  return list[0]["avg_ts"].get<double>();
}

}  // namespace cli

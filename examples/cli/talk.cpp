// How the program speaks: answers and errors on stdout for scripts, progress on stderr for people.
#include <algorithm>
#include <iostream>

#include "cli/cli.hpp"

#ifdef _WIN32
#include <io.h>
#define INLAY_IS_TERMINAL _isatty(2)
#else
#include <unistd.h>
#define INLAY_IS_TERMINAL isatty(2)
#endif

namespace cli {
namespace {

// In the order of inlay::Fault and inlay::Errc; "none" has no name of its own.
constexpr std::string_view fault_names[] = {
    "",           "truncated",     "bad_magic",    "bad_version",   "bad_endian",
    "bad_count",  "bad_string",    "bad_type",     "bad_alignment", "bad_dims",
    "overflow",   "out_of_bounds", "duplicate",    "missing_key",   "missing_tensor",
    "wrong_type", "bad_value",     "inconsistent", "unsupported",   "limit"};
constexpr std::string_view code_names[] = {"",       "io",     "format",   "unsupported",
                                           "memory", "device", "argument", "cancelled"};

}  // namespace

void answer_lines(const std::function<Json(const Request&)>& answer) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    Json reply;
    try {
      reply = answer(Request(line));
    } catch (const inlay::Error& error) {
      reply = describe(error);
    }
    std::cout << print(reply) << std::endl;
  }
}

Json describe(const inlay::Error& error) {
  const auto fault = static_cast<std::size_t>(error.fault());
  const auto kind = fault != 0 && fault < std::size(fault_names) ? fault_names[fault]
                                                                 : code_names[static_cast<std::size_t>(error.code())];
  return {{"error", {{"kind", kind}, {"message", error.what()}}}};
}

Json describe(const inlay::Stats& stats) {
  return {{"prompt_tokens", stats.prompt_tokens},       {"reused_tokens", stats.reused_tokens},
          {"generated_tokens", stats.generated_tokens}, {"drafted_tokens", stats.drafted_tokens},
          {"accepted_tokens", stats.accepted_tokens},   {"prompt_seconds", stats.prompt_seconds},
          {"generate_seconds", stats.generate_seconds}};
}

std::string_view name(inlay::Finish finish) {
  constexpr std::string_view names[] = {"running",      "end_of_text", "stop_text", "constraint_done", "token_limit",
                                        "context_full", "deadline",    "cancelled", "guarded"};
  return names[static_cast<std::size_t>(finish)];
}

bool person_watches() { return INLAY_IS_TERMINAL != 0; }

void show_progress(std::string_view what, double done) {
  if (person_watches()) std::cerr << '\r' << what << ' ' << static_cast<int>(100 * std::clamp(done, 0.0, 1.0)) << " %";
}

void clear_progress() {
  if (person_watches()) std::cerr << "\r\033[K";
}

}  // namespace cli

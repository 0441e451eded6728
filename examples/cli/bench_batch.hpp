// What `inlay bench` measures of many sessions at once.
#pragma once

#include <string>
#include <vector>

#include "cli/json.hpp"

namespace cli {

// Valid tokens that begin differently for every `variant`: what they say does not matter.
std::vector<inlay::TokenId> some_tokens(const inlay::Model&, int variant, int count);

struct BatchWork {
  int sessions, prompt, generate, repeat;
};

// Tokens a second over all sessions: their prompts together, then all of them writing.
Json bench_batch(const inlay::Model&, const BatchWork&);

// A day of one kind: "chat", "rag", "agent" or "batch". `page` is the size of the cache's pages.
Json bench_profile(const inlay::Model&, const std::string& profile, int page);
std::vector<std::string> profile_names();

void print_batches(const Json& rows);
void print_profiles(const Json& rows);

}  // namespace cli

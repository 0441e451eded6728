// What `inlay bench --stall` measures: how long sessions that write wait while a long prompt is read.
#pragma once

#include "cli/json.hpp"

namespace cli {

// Eight sessions write and a prompt of so many tokens arrives: a row for each way to read it beside them.
Json bench_stall(const inlay::Model&, int prompt_tokens);
void print_stalls(const Json& rows);

}  // namespace cli

// Gaps between the tokens of eight sessions, without and with a long prompt beside them.
#include "cli/bench_stall.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>

#include "cli/bench_batch.hpp"

namespace cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Options = inlay::Batch::Options;

constexpr int writers = 8, warm_up = 24, fewest = 64;  // tokens of each

struct Gaps {
  double median = 0, longest = 0, prompt_seconds = 0;
  int tokens = 0;  // of each
};

Gaps gaps_of(std::vector<double> gaps, double prompt_seconds) {
  if (gaps.empty()) return {0, 0, prompt_seconds, 0};
  std::sort(gaps.begin(), gaps.end());
  return {gaps[gaps.size() / 2], gaps.back(), prompt_seconds, int(gaps.size()) / writers};
}

// The writers alone for a while, and then for so many tokens, or, with a prompt, until it is read.
Gaps run(const inlay::Model& model, const Options& options, int prompt_tokens, int measured) {
  inlay::Batch batch(model, options);
  std::vector<inlay::Session> sessions;
  for (int i = 0; i < writers; ++i)
    batch.submit(sessions.emplace_back(model.session()), some_tokens(model, i, 16), {.seed = 1}, {.ignore_end = true});
  auto reader = model.session();
  inlay::Batch::Id prompt = 0;
  std::vector<Clock::time_point> last(writers + 2);
  std::vector<double> gaps;
  for (const auto& event : batch) {
    if (!event.error.empty()) throw inlay::Error(inlay::Errc::memory, event.error);
    const auto now = Clock::now();
    if (event.id == prompt) return gaps_of(std::move(gaps), event.stats.prompt_seconds);
    const auto gap = Seconds(now - last[event.id]).count();
    last[event.id] = now;
    const int written = event.stats.generated_tokens;
    if (prompt > 0 || written > warm_up) gaps.push_back(gap);
    if (prompt_tokens == 0 && written == warm_up + measured) return gaps_of(std::move(gaps), 0);
    if (prompt_tokens == 0 || prompt > 0 || written < warm_up) continue;
    gaps.clear();
    prompt = batch.submit(reader, some_tokens(model, 99, prompt_tokens), {}, {.tokens = 1, .ignore_end = true});
  }
  return {};
}

double seconds_alone(const inlay::Model& model, int prompt_tokens) {
  inlay::Batch batch(model);
  auto session = model.session();
  batch.submit(session, some_tokens(model, 99, prompt_tokens), {}, {.tokens = 1, .ignore_end = true});
  double seconds = 0;
  for (const auto& event : batch) seconds = event.stats.prompt_seconds;
  return seconds;
}

}  // namespace

Json bench_stall(const inlay::Model& model, int prompt_tokens) {
  const struct {
    const char* name;
    Options options;
  } ways[] = {{"default", {}},
              {"no time limit", {.steps_of_delay = 0}},
              {"in one piece", {.tokens_per_step = prompt_tokens + writers, .steps_of_delay = 0}}};
  Json rows = Json::array();
  for (const auto& way : ways) {
    const double alone = seconds_alone(model, prompt_tokens);
    const auto beside = run(model, way.options, prompt_tokens, 0);
    const auto quiet = run(model, way.options, 0, std::max(fewest, beside.tokens));  // the same texts
    rows.push_back({{"way", way.name},
                    {"threads", model.info().threads},
                    {"median_gap_without", quiet.median},
                    {"longest_gap_without", quiet.longest},
                    {"median_gap", beside.median},
                    {"longest_gap", beside.longest},
                    {"gap_ratio", beside.longest / quiet.median},
                    {"prompt_tokens_per_second", prompt_tokens / beside.prompt_seconds},
                    {"prompt_speed_of_lone", alone / beside.prompt_seconds}});
  }
  return rows;
}

void print_stalls(const Json& rows) {
  std::cout
      << "way             threads   gap ms: without, longest   beside, longest   ratio   prompt tokens/s   of its lone "
         "speed\n"
      << std::fixed;
  const auto milliseconds = [](const Json& seconds) { return 1e3 * seconds.get<double>(); };
  for (const auto& row : rows) {
    std::cout << std::left << std::setw(16) << row["way"].get<std::string>() << std::right << std::setw(7)
              << row["threads"].get<int>() << std::setprecision(2) << std::setw(18)
              << milliseconds(row["median_gap_without"]) << std::setw(9) << milliseconds(row["longest_gap_without"])
              << std::setw(9) << milliseconds(row["median_gap"]) << std::setw(9) << milliseconds(row["longest_gap"])
              << std::setprecision(1) << std::setw(8) << row["gap_ratio"].get<double>() << std::setw(18)
              << row["prompt_tokens_per_second"].get<double>() << std::setw(18)
              << 100 * row["prompt_speed_of_lone"].get<double>() << " %\n";
  }
}

}  // namespace cli

// Many sessions at once: how fast they are together, and how long each waits.
#include "cli/bench_batch.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>

#include "cli/machine.hpp"

namespace cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require_success(const inlay::Batch::Event& event) {
  if (!event.error.empty()) throw inlay::Error(inlay::Errc::memory, event.error);
}

double run_all(inlay::Batch& batch) {
  const auto start = Clock::now();
  for (const auto& event : batch) require_success(event);
  return seconds_since(start);
}

struct Seconds {
  double reading, writing;
};

Seconds run(const inlay::Model& model, const BatchWork& work) {
  inlay::Batch batch(model, {.sessions_at_once = work.sessions});
  std::vector<inlay::Session> sessions;
  for (int i = 0; i < work.sessions; ++i) {
    auto& session = sessions.emplace_back(model.session());
    batch.submit(session, some_tokens(model, i, work.prompt), inlay::Sampler::greedy(), {.tokens = 0});
  }
  const double reading = run_all(batch);
  for (auto& session : sessions)
    batch.submit(session, std::span<const inlay::TokenId>(), inlay::Sampler::greedy(),
                 {.tokens = work.generate, .ignore_end = true});
  return {reading, run_all(batch)};
}

double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * double(values.size() - 1))];
}

Json best_and_median(const std::vector<double>& rates) {
  return {{"best", percentile(rates, 1)}, {"median", percentile(rates, 0.5)}};
}

// Conversations that begin with the same tokens; each has turns, and a turn adds a prompt and its answer.
struct Profile {
  const char* name;
  int conversations, turns, shared, prompt, answer;
};
constexpr Profile profiles[] = {{"chat", 4, 3, 200, 40, 48},
                                {"rag", 8, 1, 1000, 16, 32},
                                {"agent", 4, 4, 500, 100, 24},
                                {"batch", 16, 1, 0, 128, 48}};

class Day {
 public:
  Day(const inlay::Model& model, const Profile& profile) : model_(model), profile_(profile), batch_(model) {}

  void run() {
    const auto start = Clock::now();
    talks_.reserve(static_cast<std::size_t>(profile_.conversations));
    for (int i = 0; i < profile_.conversations; ++i) {
      talks_.push_back({model_.session()});
      submit(talks_.back());
    }
    for (const auto& event : batch_) {
      require_success(event);
      Talk& talk = *by_id_.at(event.id);
      (event.stats.generated_tokens == 1 ? first_ : gaps_).push_back(seconds_since(talk.last));
      talk.last = Clock::now();
      if (event.finish == inlay::Finish::running) continue;
      prompt_ += event.stats.prompt_tokens, reused_ += event.stats.reused_tokens;
      generated_ += event.stats.generated_tokens;
      if (talk.turn < profile_.turns) submit(talk);
    }
    seconds_ = seconds_since(start);
  }

  Json report(int page) const {
    std::size_t held = 0, used = 0;
    for (const auto& talk : talks_) {
      const auto tokens = talk.session.tokens().size(), size = static_cast<std::size_t>(page);
      used += tokens, held += (tokens + size - 1) / size * size;
    }
    const auto spread = [](const std::vector<double>& values) -> Json {
      return {{"p50", percentile(values, 0.5)}, {"p99", percentile(values, 0.99)}, {"max", percentile(values, 1)}};
    };
    return {{"profile", profile_.name},
            {"threads", model_.info().threads},
            {"time_to_first_token", spread(first_)},
            {"inter_token_gap", spread(gaps_)},
            {"tokens_per_second", generated_ / seconds_},
            {"prompt_tokens", prompt_},
            {"reused_tokens", reused_},
            {"reuse", prompt_ ? double(reused_) / prompt_ : 0.0},
            {"waste", held ? 1 - double(used) / double(held) : 0.0},
            {"peak_memory_bytes", peak_memory()}};
  }

 private:
  struct Talk {
    inlay::Session session;
    int turn = 0;
    Clock::time_point last = {};
  };

  void submit(Talk& talk) {
    std::vector<inlay::TokenId> prompt;
    if (talk.turn == 0) prompt = some_tokens(model_, 0, profile_.shared);
    const auto own =
        some_tokens(model_, 1 + static_cast<int>(&talk - talks_.data()) + 100 * talk.turn, profile_.prompt);
    prompt.insert(prompt.end(), own.begin(), own.end());
    ++talk.turn;
    talk.last = Clock::now();
    by_id_[batch_.submit(talk.session, prompt, {.seed = 1}, {.tokens = profile_.answer, .ignore_end = true})] = &talk;
  }

  const inlay::Model& model_;
  const Profile& profile_;
  inlay::Batch batch_;
  std::vector<Talk> talks_;
  std::map<inlay::Batch::Id, Talk*> by_id_;
  std::vector<double> first_, gaps_;
  int prompt_ = 0, reused_ = 0, generated_ = 0;
  double seconds_ = 0;
};

}  // namespace

std::vector<inlay::TokenId> some_tokens(const inlay::Model& model, int variant, int count) {
  std::vector<inlay::TokenId> tokens(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<inlay::TokenId>((i * 7 + std::size_t(variant) * 31) % std::size_t(model.info().vocabulary));
  return tokens;
}

Json bench_batch(const inlay::Model& model, const BatchWork& work) {
  std::vector<double> reading, writing;
  for (int i = 0; i < work.repeat; ++i) {
    const auto took = run(model, work);
    reading.push_back(work.sessions * work.prompt / took.reading);
    writing.push_back(work.sessions * work.generate / took.writing);
  }
  return {{"test", "batch" + std::to_string(work.sessions)},
          {"threads", model.info().threads},
          {"sessions", work.sessions},
          {"depth", work.prompt},
          {"prompt_tokens_per_second", best_and_median(reading)},
          {"tokens_per_second", best_and_median(writing)},
          {"peak_memory_bytes", peak_memory()}};
}

Json bench_profile(const inlay::Model& model, const std::string& name, int page) {
  const auto* profile =
      std::find_if(std::begin(profiles), std::end(profiles), [&](const Profile& p) { return p.name == name; });
  if (profile == std::end(profiles))
    throw inlay::Error(inlay::Errc::argument, "there is no profile " + name, inlay::Fault::bad_value, "profile");
  Day day(model, *profile);
  day.run();
  return day.report(page);
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& profile : profiles) names.emplace_back(profile.name);
  return names;
}

void print_batches(const Json& rows) {
  std::cout << "test      threads   depth   reading tokens/s   writing tokens/s      median\n"
            << std::fixed << std::setprecision(1);
  for (const auto& row : rows) {
    std::cout << std::left << std::setw(10) << row["test"].get<std::string>() << std::right << std::setw(7)
              << row["threads"].get<int>() << std::setw(8) << row["depth"].get<int>() << std::setw(19)
              << row["prompt_tokens_per_second"]["best"].get<double>() << std::setw(19)
              << row["tokens_per_second"]["best"].get<double>() << std::setw(12)
              << row["tokens_per_second"]["median"].get<double>() << '\n';
  }
}

void print_profiles(const Json& rows) {
  std::cout << "profile   threads   first token ms: p50, p99   gap ms: p50, p99, max   tokens/s   reuse   waste   "
               "memory MB\n"
            << std::fixed << std::setprecision(1);
  const auto column = [](int width, const Json& value, double scale = 1) {
    std::cout << std::setw(width) << scale * value.get<double>();
  };
  for (const auto& row : rows) {
    const auto &first = row["time_to_first_token"], &gap = row["inter_token_gap"];
    std::cout << std::left << std::setw(10) << row["profile"].get<std::string>() << std::right << std::setw(7)
              << row["threads"].get<int>();
    column(18, first["p50"], 1e3), column(10, first["p99"], 1e3);
    column(9, gap["p50"], 1e3), column(8, gap["p99"], 1e3), column(8, gap["max"], 1e3);
    column(11, row["tokens_per_second"]);
    column(6, row["reuse"], 100), std::cout << " %";
    column(6, row["waste"], 100), std::cout << " %";
    std::cout << std::setw(12) << row["peak_memory_bytes"].get<std::uint64_t>() / 1'000'000 << '\n';
  }
}

}  // namespace cli

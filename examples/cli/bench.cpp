// `inlay bench`: how fast a model reads and writes, beside what the machine's memory allows and what a peer reaches.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>

#include "cli/bench_batch.hpp"
#include "cli/bench_stall.hpp"
#include "cli/bench_work.hpp"
#include "cli/cli.hpp"
#include "cli/machine.hpp"
#include "cli/peer.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  int prompt = 512, generate = 64, repeat = 5, stall = 0;
  std::vector<int> depths = {0}, threads = {0}, batch = {};
  std::string peer, profile;
  bool json = false;
};

struct Rate {
  double best = 0, median = 0;  // tokens a second
};

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Rate rate_of(std::vector<double> rates) {
  std::sort(rates.begin(), rates.end());
  return {rates.back(), rates[rates.size() / 2]};
}

Json pair_of(Rate rate) { return {{"best", rate.best}, {"median", rate.median}}; }

class Bench {
 public:
  Bench(const Options& options, int threads) : options_(options) {
    auto flags = options.model;
    flags.options.threads = threads;
    if (options.profile.empty() || options.stall > 0)
      flags.options.reuse_prefixes = false;  // runs of the same tokens are to read them
    load_seconds_ = seconds([&] { model_.emplace(load(flags)); });
    probe_.emplace(model_->info().threads);
    work_ = work_of(flags.path);
    per_token_ = inlay::Model::plan(flags.path, flags.options).per_token;
  }

  const inlay::Model& model() const { return *model_; }

  void run(int depth, Json& rows) {
    auto session = model_->session({.speculate = false});
    const auto past = some_tokens(*model_, 0, depth);
    if (depth > 0) session.evaluate(past);
    if (options_.prompt > 0) rows.push_back(reading(session, depth));
    if (options_.generate > 0) rows.push_back(writing(session, depth));
  }

 private:
  // The machine's speed is that of the moment: probed before and after each run, and the best of all counts.
  struct Measured {
    Rate ours, peer;
    double limit = 0;
  };
  using Probe = std::function<double()>;

  // Ours and the peer's turn by turn, so that a slow minute of the machine hits both.
  Measured measure(int tokens, const PeerTest& test, const Probe& probe, const std::function<double()>& run) {
    std::vector<double> ours, peer;
    Measured measured;
    measured.limit = probe();
    for (int i = 0; i < options_.repeat; ++i) {
      ours.push_back(tokens / run());
      measured.limit = std::max(measured.limit, probe());
      if (!test.program.empty()) peer.push_back(peer_speed(test));
    }
    measured.ours = rate_of(ours);
    if (!peer.empty()) measured.peer = rate_of(peer);
    return measured;
  }

  PeerTest peer_test(int prompt, int generate, int depth) const {
    return {options_.peer, options_.model.path, model_->info().threads, prompt, generate, depth};
  }

  Json reading(inlay::Session& session, int depth) {
    const auto tokens = some_tokens(*model_, 0, options_.prompt);
    const auto& info = model_->info();
    const auto numbers = numbers_of(info.isa, work_.type);
    const auto probe = [&] { return product_speed(info.isa, numbers, info.threads); };
    const auto measured = measure(options_.prompt, peer_test(options_.prompt, 0, depth), probe, [&] {
      session.rewind(static_cast<std::size_t>(depth));
      return seconds([&] { session.evaluate(tokens); });
    });
    auto row = describe("pp" + std::to_string(options_.prompt), depth, measured);
    const double operations = 2 * (work_.products + work_.head_products / options_.prompt) * measured.ours.best;
    row[numbers == Numbers::bytes ? "int8_gops" : "float_gflops"] = 1e-9 * operations;
    if (measured.limit > 0) row["fraction_of_limit"] = operations / measured.limit;
    return row;
  }

  Json writing(inlay::Session& session, int depth) {
    const auto first = some_tokens(*model_, 0, 1);
    const inlay::Limits limits{.tokens = options_.generate, .ignore_end = true};
    const auto measured = measure(options_.generate, peer_test(0, options_.generate, depth), std::ref(*probe_), [&] {
      session.rewind(static_cast<std::size_t>(depth));
      auto generation = session.generate(first, inlay::Sampler::greedy(), limits);
      return seconds([&] { generation.text(); });
    });
    auto row = describe("tg" + std::to_string(options_.generate), depth, measured);
    const double bytes = work_.bytes + double(per_token_) * depth;
    row["bandwidth_gbs"] = 1e-9 * bytes * measured.ours.best;
    row["fraction_of_limit"] = bytes * measured.ours.best / measured.limit;
    return row;
  }

  Json describe(const std::string& test, int depth, const Measured& measured) const {
    Json row = {{"test", test},
                {"isa", model_->info().isa},
                {"threads", model_->info().threads},
                {"depth", depth},
                {"tokens_per_second", pair_of(measured.ours)},
                {"bandwidth_gbs", nullptr},
                {"int8_gops", nullptr},
                {"fraction_of_limit", nullptr},
                {"peak_memory_bytes", peak_memory()},
                {"load_seconds", load_seconds_}};
    if (options_.peer.empty()) return row;
    row["peer_tokens_per_second"] = pair_of(measured.peer);
    row["ratio"] = pair_of(Rate{measured.ours.best / measured.peer.best, measured.ours.median / measured.peer.median});
    return row;
  }

  const Options& options_;
  std::optional<inlay::Model> model_;
  std::optional<ReadProbe> probe_;
  double load_seconds_ = 0;
  Work work_;
  std::uint64_t per_token_ = 0;
};

void print_table(const Json& rows) {
  if (rows.empty()) return;
  std::cout << "test      threads   depth   tokens/s      median      GB/s     Gop/s   of limit   memory MB   load s"
            << (rows[0].contains("ratio") ? "      peer     ratio" : "") << '\n'
            << std::fixed;
  const auto optional = [](const Json& value, double scale) {
    return value.is_null() ? std::string("-") : std::to_string(static_cast<int>(scale * value.get<double>()));
  };
  for (const auto& row : rows) {
    const auto& rate = row["tokens_per_second"];
    std::cout << std::left << std::setw(10) << row["test"].get<std::string>() << std::right << std::setw(7)
              << row["threads"].get<int>() << std::setw(8) << row["depth"].get<int>() << std::setprecision(1)
              << std::setw(11) << rate["best"].get<double>() << std::setw(12) << rate["median"].get<double>()
              << std::setw(10) << optional(row["bandwidth_gbs"], 1) << std::setw(10)
              << optional(row.contains("float_gflops") ? row["float_gflops"] : row["int8_gops"], 1) << std::setw(9)
              << optional(row["fraction_of_limit"], 100) << " %" << std::setw(12)
              << row["peak_memory_bytes"].get<std::uint64_t>() / 1'000'000 << std::setprecision(3) << std::setw(9)
              << row["load_seconds"].get<double>();
    if (row.contains("ratio")) {
      std::cout << std::setprecision(1) << std::setw(10) << row["peer_tokens_per_second"]["best"].get<double>()
                << std::setprecision(2) << std::setw(10) << row["ratio"]["best"].get<double>();
    }
    std::cout << '\n';
  }
}

void bench(const Options& options) {
  Json rows = Json::array();
  const bool profile = !options.profile.empty(), batch = !options.batch.empty();
  for (const int threads : options.threads) {
    Bench bench(options, threads);
    if (profile) rows.push_back(bench_profile(bench.model(), options.profile, options.model.options.page));
    for (const int sessions : options.batch)
      rows.push_back(bench_batch(bench.model(), {sessions, options.prompt, options.generate, options.repeat}));
    if (options.stall > 0)
      for (auto& row : bench_stall(bench.model(), options.stall)) rows.push_back(std::move(row));
    if (profile || batch || options.stall > 0) continue;
    for (const int depth : options.depths) bench.run(depth, rows);
  }
  if (options.json) {
    std::cout << print(rows) << '\n';
  } else {
    profile         ? print_profiles(rows)
    : batch         ? print_batches(rows)
    : options.stall ? print_stalls(rows)
                    : print_table(rows);
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("bench", "Measure speed");
  add_model_flags(command, options->model);
  command.remove_option(command.get_option("--threads"));
  command.add_option("-t,--threads", options->threads, "numbers of threads to try")->delimiter(',');
  command.add_option("-p,--prompt", options->prompt, "tokens to read")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("-n,--generate", options->generate, "tokens to make")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("-d,--depth", options->depths, "tokens read before each test")->delimiter(',');
  command.add_option("-r,--repeat", options->repeat, "runs of each test")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* batch =
      command.add_option("--batch,--sequences", options->batch, "numbers of sessions that read and write together")
          ->delimiter(',')
          ->check(CLI::PositiveNumber);
  command.add_option("--profile", options->profile, "a kind of use: how long its requests wait, and what they share")
      ->check(CLI::IsMember(profile_names()))
      ->excludes(batch);
  command.add_option("--stall", options->stall, "tokens of a prompt that arrives while eight sessions write")
      ->check(CLI::PositiveNumber)
      ->excludes(batch);
  command.add_option("--compare", options->peer, "llama-bench of another engine, to be run turn by turn with ours");
  command.add_flag("--json", options->json, "print a JSON list");
  command.callback([options] { bench(*options); });
}

}  // namespace cli

// `inlay run`: continue a text.
#include <iostream>
#include <memory>
#include <optional>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  SamplingFlags sampling;
  std::string prompt;
  CLI::Option* given = nullptr;
  inlay::SessionOptions session;
  std::string draft;
  bool json = false, lines = false;
};

inlay::Generation start(inlay::Session& session, const Request& request, const SamplingFlags& flags) {
  if (request.has("tokens")) return session.generate(request.ids("tokens"), flags.sampler, flags.limits);
  return session.generate(request.text("prompt"), flags.sampler, flags.limits);
}

Json whole(inlay::Generation& generation) {
  Json tokens = Json::array(), logprobs = Json::array();
  std::string text;
  for (const auto& token : generation) {
    tokens.push_back(token.id);
    logprobs.push_back(token.logprob);
    text += token.text;
  }
  return {{"tokens", tokens},
          {"text", text},
          {"logprobs", logprobs},
          {"finish", name(generation.finish())},
          {"stats", describe(generation.stats())}};
}

void show_stats(const inlay::Stats& stats) {
  const auto rate = [](int tokens, double seconds) { return seconds > 0 ? tokens / seconds : 0.0; };
  std::cerr << "\n[" << stats.prompt_tokens << " tokens read, "
            << static_cast<int>(rate(stats.prompt_tokens - stats.reused_tokens, stats.prompt_seconds)) << "/s; "
            << stats.generated_tokens << " made, "
            << static_cast<int>(rate(stats.generated_tokens, stats.generate_seconds)) << "/s; " << stats.accepted_tokens
            << " of " << stats.drafted_tokens << " guesses right]\n";
}

void speak(inlay::Session& session, const Options& options) {
  const auto prompt = text_or_stdin(options.given, options.prompt);
  auto limits = options.sampling.limits;
  limits.progress = [](int done, int of) { show_progress("reading", of > 0 ? double(done) / of : 1.0); };
  auto generation = session.generate(prompt, options.sampling.sampler, limits);
  clear_progress();
  if (options.json) {
    std::cout << print(whole(generation)) << '\n';
    return;
  }
  std::cout << prompt << std::flush;
  for (std::string_view text : generation) std::cout << text << std::flush;
  std::cout << std::endl;
  if (person_watches()) show_stats(generation.stats());
}

void run(Options options) {
  const auto model = load(options.model);
  std::optional<inlay::Model> draft;
  if (!options.draft.empty()) {
    options.model.path = options.draft;
    draft = load(options.model);
    options.session.draft = &*draft;
  }
  if (options.lines) {
    answer_lines([&](const Request& request) {
      auto session = model.session(options.session);
      auto generation = start(session, request, sampling(request, options.sampling));
      return whole(generation);
    });
    return;
  }
  auto session = model.session(options.session);
  speak(session, options);
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("run", "Continue a text");
  options->given = command.add_option("prompt", options->prompt, "the text; without it, all of stdin");
  add_model_flags(command, options->model);
  add_sampling_flags(command, options->sampling);
  command.add_flag("--speculate,!--no-speculate", options->session.speculate,
                   "guess tokens ahead where that pays; the text stays the same (the default)");
  command.add_option("--draft", options->draft, "a smaller model that guesses tokens, best of the same vocabulary");
  command.add_flag("--json", options->json, "print one JSON object with tokens, text and statistics");
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { run(*options); });
}

}  // namespace cli

// `inlay sample`: how the next token would be chosen, step by step.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  SamplingFlags sampling;
  std::string prompt;
  CLI::Option* given = nullptr;
  int top = 20;
  bool lines = false;
};

std::vector<inlay::SampledStep> explain(const inlay::Model& model, const std::vector<inlay::TokenId>& prompt,
                                        const inlay::Sampler& sampler, int top) {
  auto session = model.session();
  session.evaluate(prompt);
  return session.explain(sampler, top);
}

std::vector<inlay::TokenId> prompt_of(const inlay::Model& model, const Request& request) {
  if (request.has("tokens")) return request.ids("tokens");
  return model.tokenize(request.text("prompt"), {.specials = true});
}

Json describe(const std::vector<inlay::SampledStep>& steps) {
  Json list = Json::array();
  for (const auto& step : steps) {
    Json candidates = Json::array();
    for (const auto& candidate : step.candidates)
      candidates.push_back({{"id", candidate.id}, {"p", std::exp(candidate.logprob)}});
    list.push_back({{"name", step.name}, {"candidates", std::move(candidates)}});
  }
  return {{"steps", std::move(list)}};
}

void show(const inlay::Model& model, const std::vector<inlay::SampledStep>& steps) {
  for (const auto& step : steps) {
    std::cout << step.name << '\n';
    for (const auto& candidate : step.candidates)
      std::cout << std::fixed << std::setprecision(4) << std::setw(10) << std::exp(candidate.logprob) << std::setw(8)
                << candidate.id << "  " << print(Json(model.piece(candidate.id))) << '\n';
  }
}

void sample(const Options& options) {
  const auto model = load(options.model);
  if (options.lines) {
    return answer_lines([&](const Request& request) {
      const auto top = request.integer("top", options.top);
      const auto most = static_cast<std::int64_t>(model.info().vocabulary);
      return describe(explain(model, prompt_of(model, request), sampling(request, options.sampling).sampler,
                              static_cast<int>(std::clamp<std::int64_t>(top, 0, most))));
    });
  }
  const auto& sampler = options.sampling.sampler;
  std::cout << sampler.describe() << '\n';
  const auto prompt = model.tokenize(text_or_stdin(options.given, options.prompt), {.specials = true});
  show(model, explain(model, prompt, sampler, options.top));
}

}  // namespace

void add_sample(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("sample", "Show the distribution before and after each step of the sampler");
  options->given = command.add_option("prompt", options->prompt, "the text before; without it, all of stdin");
  add_model_flags(command, options->model);
  add_sampling_flags(command, options->sampling);
  command.add_option("--top", options->top, "tokens shown for each step")->capture_default_str();
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { sample(*options); });
}

}  // namespace cli

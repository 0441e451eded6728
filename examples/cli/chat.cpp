// `inlay chat`: talk with a model in turns.
#include <iostream>
#include <memory>

#include "cli/chatml.hpp"
#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  SamplingFlags sampling;
  std::string system;
  bool lines = false;
};

Json answer(const inlay::Model& model, const Request& request, const SamplingFlags& flags) {
  const auto tools = request.has("tools") ? request.json("tools") : Json::array();
  const auto prompt = chatml(model, request.json("messages"), tools);
  auto session = model.session();
  auto generation = session.generate(prompt, flags.sampler, flags.limits);
  auto reply = parse_answer(generation.text());
  reply["finish"] = name(generation.finish());
  reply["stats"] = describe(generation.stats());
  return reply;
}

// How many tokens two lists have in common at their beginning.
std::size_t common(std::span<const inlay::TokenId> a, std::span<const inlay::TokenId> b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// The session keeps what was read; a turn adds only what is new.
std::string say(inlay::Session& session, std::span<const inlay::TokenId> conversation, const SamplingFlags& flags) {
  const auto kept = std::min(common(session.tokens(), conversation), conversation.size() - 1);
  session.rewind(kept);
  std::string said;
  for (std::string_view text : session.generate(conversation.subspan(kept), flags.sampler, flags.limits)) {
    std::cout << text << std::flush;
    said += text;
  }
  std::cout << std::endl;
  return said;
}

void converse(const inlay::Model& model, const Options& options) {
  auto session = model.session();
  Json messages = Json::array();
  if (!options.system.empty()) messages.push_back({{"role", "system"}, {"content", options.system}});
  const auto ask = [] {
    if (person_watches()) std::cerr << "> " << std::flush;
  };
  ask();
  for (std::string line; std::getline(std::cin, line); ask()) {
    if (line.empty()) continue;
    messages.push_back({{"role", "user"}, {"content", line}});
    const auto said = say(session, chatml(model, messages, Json::array()), options.sampling);
    messages.push_back({{"role", "assistant"}, {"content", said}});
  }
}

void chat(const Options& options) {
  const auto model = load(options.model);
  if (!options.lines) return converse(model, options);
  answer_lines([&](const Request& request) { return answer(model, request, sampling(request, options.sampling)); });
}

}  // namespace

void add_chat(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("chat", "Talk with a model in turns");
  command.add_option("--system", options->system, "what the model is told before the first turn");
  add_model_flags(command, options->model);
  add_sampling_flags(command, options->sampling);
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { chat(*options); });
}

}  // namespace cli

// `inlay grammar`: whether texts belong to the language of a schema, of rules, or of a pattern.
#include <iostream>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  inlay::Grammar grammar;
  std::vector<std::string> texts;
  bool lines = false;
};

[[noreturn]] void refuse_empty() {
  throw inlay::Error(inlay::Errc::argument, "a schema, GBNF rules or a pattern must be given",
                     inlay::Fault::missing_key, "schema");
}

Json answer(const Request& request) {
  const auto language = grammar(request, {});
  if (!language) refuse_empty();
  Json accept = Json::array(), prefix_ok = Json::array();
  for (const auto& text : request.texts("texts")) {
    const auto match = language.match(text);
    accept.push_back(match == inlay::Match::whole);
    prefix_ok.push_back(match != inlay::Match::none);
  }
  return {{"accept", accept}, {"prefix_ok", prefix_ok}};
}

void judge(const inlay::Grammar& language, const std::string& text) {
  constexpr std::string_view verdicts[] = {"reject", "prefix", "accept"};
  std::cout << verdicts[static_cast<std::size_t>(language.match(text))] << '\t' << text << std::endl;
}

void judge_all(const Options& options) {
  if (options.lines) return answer_lines(answer);
  if (!options.grammar) refuse_empty();
  for (const auto& text : options.texts) judge(options.grammar, text);
  if (!options.texts.empty()) return;
  for (std::string line; std::getline(std::cin, line);) judge(options.grammar, line);
}

}  // namespace

void add_grammar(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("grammar", "Tell which texts belong to a schema, to rules, or to a pattern");
  command.add_option("texts", options->texts, "the texts; without them, each line of stdin is one");
  add_model_flags(command, options->model);  // as everywhere, though a language needs no model
  add_grammar_flags(command, options->grammar);
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line; each brings its grammar");
  command.callback([options] { judge_all(*options); });
}

}  // namespace cli

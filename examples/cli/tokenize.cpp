// `inlay tokenize`: a text as the token ids a model reads.
#include <iostream>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  inlay::TokenizeOptions how;
  std::string text;
  CLI::Option* given = nullptr;
  bool json = false, lines = false;
};

void tokenize(const Options& options) {
  const auto model = load_vocabulary(options.model);
  if (options.lines) {
    answer_lines([&](const Request& request) {
      const inlay::TokenizeOptions how{.specials = request.flag("add_special", options.how.specials),
                                       .parse_specials = request.flag("parse_special", options.how.parse_specials)};
      return Json{{"ids", model.tokenize(request.bytes("text"), how)}};
    });
    return;
  }
  const auto ids = model.tokenize(text_or_stdin(options.given, options.text), options.how);
  if (options.json) {
    std::cout << print({{"ids", ids}}) << '\n';
    return;
  }
  for (const auto id : ids) std::cout << id << '\t' << print(Json(model.piece(id))) << '\n';
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("tokenize", "Show the tokens of a text");
  options->given = command.add_option("text", options->text, "the text; without it, all of stdin");
  add_model_flags(command, options->model);
  command.add_flag("--special", options->how.specials, "add the tokens that the file puts around every text");
  command.add_flag("--parse-special", options->how.parse_specials,
                   "text that spells a control token becomes that token");
  command.add_flag("--json", options->json, "print one JSON object");
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { tokenize(*options); });
}

}  // namespace cli

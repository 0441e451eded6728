// `inlay detokenize`: the text of token ids, whole or as a stream shows it.
#include <iostream>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  inlay::DetokenizeOptions how;
  std::vector<inlay::TokenId> ids;
  bool json = false, lines = false;
};

Json stream(const inlay::Model& model, const std::vector<inlay::TokenId>& ids) {
  auto chunks = model.detokenize_stream(ids);
  const auto flush = chunks.back();
  chunks.pop_back();
  return {{"chunks", chunks}, {"flush", flush}};
}

Json pieces(const inlay::Model& model, const std::vector<inlay::TokenId>& ids, bool render_special) {
  std::string bytes;
  for (const auto id : ids) bytes += model.piece(id, render_special);
  return {{"bytes_hex", hex(bytes)}};
}

Json answer(const inlay::Model& model, const Request& request) {
  const auto ids = request.ids("ids");
  if (request.flag("stream", false)) return stream(model, ids);
  if (request.flag("piece", false)) return pieces(model, ids, request.flag("render_special", false));
  return text_or_hex(model.detokenize(ids, {.remove_specials = request.flag("remove_special", false),
                                            .show_specials = request.flag("unparse_special", false)}));
}

void detokenize(const Options& options) {
  const auto model = load_vocabulary(options.model);
  if (options.lines) {
    answer_lines([&](const Request& request) { return answer(model, request); });
    return;
  }
  const auto text = model.detokenize(options.ids, options.how);
  std::cout << (options.json ? print(text_or_hex(text)) : text) << '\n';
}

}  // namespace

void add_detokenize(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("detokenize", "Show the text of tokens");
  command.add_option("ids", options->ids, "token ids");
  add_model_flags(command, options->model);
  command.add_flag("--remove-special", options->how.remove_specials, "drop what the file puts around every text");
  command.add_flag("--show-special", options->how.show_specials, "write control tokens out");
  command.add_flag("--json", options->json, "print one JSON object");
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { detokenize(*options); });
}

}  // namespace cli

// `inlay embed`: what a model makes of texts, as rows of numbers.
#include <iostream>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  std::string text, pooling = "model";
  CLI::Option* given = nullptr;
  bool raw = false, lines = false;
};

inlay::Pooling pooling_of(const std::string& name) {
  constexpr std::string_view names[] = {"model", "none", "mean", "cls", "last"};  // in the order of inlay::Pooling
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<inlay::Pooling>(i);
  }
  throw inlay::Error(inlay::Errc::argument, "field \"pooling\" must be mean, cls, last or none",
                     inlay::Fault::bad_value, "pooling");
}

Json rows_of(const inlay::Embeddings& embeddings, inlay::Pooling pooling) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < embeddings.rows(); ++i) rows.push_back(embeddings[i]);
  return {{"embedding", pooling == inlay::Pooling::none || rows.empty() ? rows : rows[0]}};
}

Json answer(const inlay::Model& model, const Request& request) {
  const inlay::EmbedOptions how{.pooling = pooling_of(request.has("pooling") ? request.text("pooling") : "model"),
                                .normalize = request.flag("normalize", true)};
  if (request.has("tokens")) return rows_of(model.embed(request.ids("tokens"), how), how.pooling);
  return rows_of(model.embed(request.text("text"), how), how.pooling);
}

void embed(const Options& options) {
  const auto model = load(options.model);
  if (options.lines) return answer_lines([&](const Request& request) { return answer(model, request); });
  const inlay::EmbedOptions how{.pooling = pooling_of(options.pooling), .normalize = !options.raw};
  std::cout << print(rows_of(model.embed(text_or_stdin(options.given, options.text), how), how.pooling)) << '\n';
}

}  // namespace

void add_embed(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("embed", "Show the embedding of a text");
  options->given = command.add_option("text", options->text, "the text; without it, all of stdin");
  add_model_flags(command, options->model);
  command.add_option("--pooling", options->pooling, "how the rows of tokens become one")
      ->check(CLI::IsMember({"model", "none", "mean", "cls", "last"}))
      ->capture_default_str();
  command.add_flag("--raw", options->raw, "do not scale to unit length");
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { embed(*options); });
}

}  // namespace cli

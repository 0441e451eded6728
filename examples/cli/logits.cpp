// `inlay logits`: what a model makes of a text, as numbers.
#include <algorithm>
#include <bit>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  std::string text, output;
  CLI::Option* given = nullptr;
  int top = 10;
  bool json = false, lines = false;
};

std::vector<int> wanted_positions(const Request& request, std::size_t tokens) {
  std::vector<int> positions(tokens);
  std::iota(positions.begin(), positions.end(), 0);
  const bool all = !request.has("positions") || request.json("positions") == "all";
  return all ? positions : request.integers("positions");
}

// The sizes of the pieces that the tokens are read in; what they leave over is read last.
std::vector<std::size_t> pieces(const Request& request, std::size_t tokens) {
  std::vector<std::size_t> sizes;
  std::size_t left = tokens;
  if (request.has("chunks")) {
    for (const int size : request.integers("chunks")) {
      sizes.push_back(std::min(left, static_cast<std::size_t>(size)));
      left -= sizes.back();
    }
  }
  sizes.push_back(left);
  std::erase(sizes, std::size_t{0});
  return sizes;
}

// Logits in the order of `positions`, which may name a position twice.
std::vector<float> evaluate(inlay::Session& session, const Request& request, const std::vector<inlay::TokenId>& tokens,
                            const std::vector<int>& positions, std::size_t width) {
  std::vector<float> rows(positions.size() * width);
  std::size_t begin = 0;
  for (const auto size : pieces(request, tokens.size())) {
    std::vector<int> wanted;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto position = static_cast<std::size_t>(positions[i]);
      if (position < begin || position >= begin + size) continue;
      wanted.push_back(static_cast<int>(position - begin));
      places.push_back(i);
    }
    const auto logits = session.evaluate(std::span(tokens).subspan(begin, size), wanted);
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::copy_n(logits.begin() + std::ptrdiff_t(i * width), width, rows.begin() + std::ptrdiff_t(places[i] * width));
    }
    begin += size;
  }
  return rows;
}

void append(std::ofstream& file, std::vector<float>& values) {
  if constexpr (std::endian::native == std::endian::big) {
    for (auto& value : values) {
      auto* bytes = reinterpret_cast<char*>(&value);
      std::reverse(bytes, bytes + sizeof value);
    }
  }
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  file.flush();
}

void answer_requests(const inlay::Model& model, const Options& options) {
  std::ofstream file(options.output, std::ios::binary | std::ios::trunc);
  if (!file) throw inlay::Error(inlay::Errc::io, "cannot write " + options.output);
  const auto width = static_cast<std::size_t>(model.info().vocabulary);
  answer_lines([&](const Request& request) {
    const auto tokens = request.ids(request.has("encoder_tokens") ? "decoder_tokens" : "tokens");
    const auto positions = wanted_positions(request, tokens.size());
    for (const int position : positions) {
      if (static_cast<std::size_t>(position) < tokens.size()) continue;
      throw inlay::Error(inlay::Errc::argument, "position " + std::to_string(position) + " lies beyond the tokens",
                         inlay::Fault::out_of_bounds, "positions");
    }
    auto session = model.session();
    if (request.has("encoder_tokens")) session.read_source(request.ids("encoder_tokens"));
    auto rows = evaluate(session, request, tokens, positions, width);
    append(file, rows);
    return Json{{"rows", positions.size()}, {"cols", width}};
  });
}

// The likeliest tokens after the text.
Json likeliest(const inlay::Model& model, const Options& options) {
  auto session = model.session();
  const auto tokens = model.tokenize(text_or_stdin(options.given, options.text), {.specials = true});
  const auto logits = session.evaluate(tokens);
  std::vector<inlay::TokenId> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shown = std::min(order.size(), static_cast<std::size_t>(options.top));
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(shown), order.end(),
                    [&](auto a, auto b) { return logits[std::size_t(a)] > logits[std::size_t(b)]; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back({{"id", order[i]}, {"logit", logits[std::size_t(order[i])]}, {"text", model.piece(order[i])}});
  }
  return rows;
}

void run(const Options& options) {
  const auto model = load(options.model);
  if (options.lines) return answer_requests(model, options);
  const auto rows = likeliest(model, options);
  if (options.json) {
    std::cout << print(rows) << '\n';
    return;
  }
  for (const auto& row : rows) {
    std::cout << print(row["id"]) << '\t' << row["logit"].get<float>() << '\t' << print(row["text"]) << '\n';
  }
}

}  // namespace

void add_logits(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("logits", "Show what may come next, or write logits to a file");
  options->given = command.add_option("text", options->text, "the text; without it, all of stdin");
  add_model_flags(command, options->model);
  command.add_option("--top", options->top, "how many tokens to show")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* output = command.add_option("-o,--output", options->output, "file for the float32 rows of --jsonl");
  command.add_flag("--json", options->json, "print one JSON list");
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line")->needs(output);
  command.callback([options] { run(*options); });
}

}  // namespace cli

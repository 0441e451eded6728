// `inlay rerank`: how well documents answer a query, best first.
#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  std::string query;
  std::vector<std::string> documents;
  bool json = false, lines = false;
};

std::vector<float> scores_of(const inlay::Model& model, std::string_view query,
                             std::span<const std::string> documents) {
  const std::vector<std::string_view> views(documents.begin(), documents.end());
  return model.rerank(query, views);
}

// The documents' numbers, from the best score down; equals in their order.
std::vector<std::size_t> ranking(std::span<const float> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return scores[i]; });
  return order;
}

Json described(std::span<const float> scores) { return {{"scores", scores}, {"ranking", ranking(scores)}}; }

std::vector<std::string> lines_of_stdin() {
  std::vector<std::string> all;
  for (std::string line; std::getline(std::cin, line);) all.push_back(line);
  return all;
}

void rerank(const Options& options) {
  const auto model = load(options.model);
  if (options.lines) {
    return answer_lines([&](const Request& request) {
      request.json("documents");  // must be there
      return described(scores_of(model, request.text("query"), request.texts("documents")));
    });
  }
  if (options.query.empty()) throw inlay::Error(inlay::Errc::argument, "a query is missing");
  const auto documents = options.documents.empty() ? lines_of_stdin() : options.documents;
  const auto scores = scores_of(model, options.query, documents);
  if (options.json) {
    std::cout << print(described(scores)) << '\n';
    return;
  }
  for (const auto i : ranking(scores)) std::cout << scores[i] << '\t' << documents[i] << '\n';
}

}  // namespace

void add_rerank(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("rerank", "Sort documents by how well they answer a query");
  command.add_option("query", options->query, "the query");
  command.add_option("documents", options->documents, "the documents; without them, the lines of stdin");
  add_model_flags(command, options->model);
  command.add_flag("--json", options->json, "scores in the order of the documents, and their ranking");
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { rerank(*options); });
}

}  // namespace cli

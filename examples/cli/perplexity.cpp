// `inlay perplexity`: how well a model foresees a text. The second half of every window counts, as in llama.cpp's tool.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <numeric>

#include "cli/cli.hpp"

namespace cli {
namespace {

constexpr std::size_t piece = 128;  // tokens read at once: bounds the memory that logits take

struct Options {
  ModelFlags model;
  std::string file;
  bool json = false;
};

// The sum and the sum of squares of negative log-probabilities.
struct Surprise {
  double sum = 0, squares = 0;
  std::size_t tokens = 0;

  void add(double nats) {
    sum += nats;
    squares += nats * nats;
    ++tokens;
  }
  double perplexity() const { return std::exp(sum / double(tokens)); }
  double error() const {  // the standard error of the mean, carried through exp
    const double mean = sum / double(tokens), variance = squares / double(tokens) - mean * mean;
    return tokens > 1 && variance > 0 ? std::sqrt(variance / double(tokens - 1)) * perplexity() : 0;
  }
};

double negative_log_probability(std::span<const float> logits, inlay::TokenId token) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  const double total = std::accumulate(logits.begin(), logits.end(), 0.0,
                                       [largest](double sum, float x) { return sum + std::exp(x - largest); });
  return std::log(total) + largest - logits[static_cast<std::size_t>(token)];
}

void read_window(const inlay::Model& model, std::span<const inlay::TokenId> tokens, Surprise& surprise) {
  auto session = model.session();
  const auto width = static_cast<std::size_t>(model.info().vocabulary);
  for (std::size_t begin = 0; begin + 1 < tokens.size(); begin += piece) {
    const auto end = std::min(begin + piece, tokens.size() - 1);
    std::vector<int> wanted;
    for (auto i = std::max(begin, tokens.size() / 2); i < end; ++i) wanted.push_back(static_cast<int>(i - begin));
    const auto logits = session.evaluate(tokens.subspan(begin, end - begin), wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto next = tokens[begin + std::size_t(wanted[i]) + 1];
      surprise.add(negative_log_probability(std::span(logits).subspan(i * width, width), next));
    }
  }
}

void perplexity(const Options& options) {
  const auto text = read_file(options.file);
  const auto model = load(options.model);
  const auto window = static_cast<std::size_t>(model.info().context);
  auto tokens = model.tokenize(text, {.specials = true});
  const bool starts_with_bos = !tokens.empty() && tokens.front() == model.info().bos;
  if (window < 4 || tokens.size() < window) {
    throw inlay::Error(inlay::Errc::argument, options.file + " has " + std::to_string(tokens.size()) +
                                                  " tokens: too few for one window of " + std::to_string(window));
  }
  Surprise surprise;
  const auto windows = tokens.size() / window;
  for (std::size_t i = 0; i < windows; ++i) {
    const auto part = std::span(tokens).subspan(i * window, window);
    if (starts_with_bos) part.front() = model.info().bos;
    read_window(model, part, surprise);
    show_progress("perplexity", double(i + 1) / double(windows));
  }
  clear_progress();
  if (options.json) {
    std::cout << print(
                     {{"perplexity", surprise.perplexity()}, {"stderr", surprise.error()}, {"tokens", surprise.tokens}})
              << '\n';
  } else {
    std::cout << "perplexity " << surprise.perplexity() << " +/- " << surprise.error() << " over " << surprise.tokens
              << " tokens in " << windows << " windows of " << window << '\n';
  }
}

}  // namespace

void add_perplexity(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("perplexity", "Measure how well a model foresees a text");
  command.add_option("-f,--file", options->file, "the text")->required();
  add_model_flags(command, options->model);
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] { perplexity(*options); });
}

}  // namespace cli

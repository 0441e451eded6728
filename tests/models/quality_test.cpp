// Proves: the trained models are as good here as elsewhere, by perplexity and by exact answers.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace {

using inlay::TokenId;
using Json = nlohmann::json;

double log_probability(std::span<const float> logits, TokenId id) {
  const float top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float x : logits) sum += std::exp(double(x) - top);
  return double(logits[std::size_t(id)]) - top - std::log(sum);
}

// exp of the mean negative log-probability over the second half of each window, BOS in the place of each first token:
// the definition of llama.cpp's tool.
double perplexity(const inlay::Model& model, std::string_view text, std::size_t window) {
  auto tokens = model.tokenize(text, {.specials = true});
  const auto width = std::size_t(model.info().vocabulary);
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t begin = 0; begin + window <= tokens.size(); begin += window) {
    std::vector<TokenId> part(tokens.begin() + std::ptrdiff_t(begin), tokens.begin() + std::ptrdiff_t(begin + window));
    part[0] = model.info().bos;
    std::vector<int> wanted(window - 1 - window / 2);
    std::iota(wanted.begin(), wanted.end(), int(window / 2));
    auto session = model.session();
    const auto logits = session.evaluate(part, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i, ++counted)
      sum -= log_probability(std::span(logits).subspan(i * width, width), part[std::size_t(wanted[i]) + 1]);
  }
  return std::exp(sum / double(counted));
}

TEST_CASE("perplexity equals llama.cpp's") {
  const auto models = support::shared() / "models";
  if (support::shared().empty()) return;
  const auto text = support::read(models / "eval-text.txt");
  const auto nano = inlay::Model::load((models / "inlay-nano.gguf").string(), {.threads = 2});
  CHECK(perplexity(nano, text, 1024) == Approx(17.178).epsilon(0.0005));
  const auto small = inlay::Model::load((models / "inlay-small-q8_0.gguf").string(), {.threads = 2});
  CHECK(perplexity(small, text, 1024) == Approx(15.327).epsilon(0.002));
  support::count("perplexity", 2);
}

// The conversation as the model's own template writes it, with the speakers' texts kept from spelling control tokens.
std::vector<TokenId> prompt_of(const Json& task, const inlay::text::ChatTemplate& chat,
                               const inlay::text::Tokenizer& tokenizer) {
  const auto messages = task["messages"].dump(), tools = task.contains("tools") ? task["tools"].dump() : std::string();
  const auto rendered = chat.render({.messages = messages, .tools = tools, .bos_token = "", .eos_token = ""});
  std::vector<inlay::text::Segment> segments;
  for (const auto& span : rendered.spans)
    segments.push_back({std::string_view(rendered.text).substr(span.begin, span.end - span.begin),
                        span.kind == inlay::text::Span::Kind::template_text});
  return tokenizer.encode(segments, true);
}

TEST_CASE("exact answers are at least those that the issue asks for") {
  const auto models = support::shared() / "models";
  if (support::shared().empty()) return;
  const auto path = (models / "inlay-nano-q8_0.gguf").string();
  const auto model = inlay::Model::load(path, {.threads = 2});
  const auto tokenizer = inlay::text::Tokenizer::from(inlay::gguf::File::open(path));
  const inlay::text::ChatTemplate chat(model.info().chat_template);
  int right = 0, tasks = 0;
  std::istringstream lines(support::read(models / "tasks.jsonl"));
  for (std::string line; std::getline(lines, line); ++tasks) {
    const auto task = Json::parse(line);
    auto session = model.session();
    const auto answer =
        session.generate(prompt_of(task, chat, *tokenizer), inlay::Sampler::greedy(), {.tokens = 256}).text();
    right += answer == task["expected"].get<std::string>();
  }
  INFO(right << " of " << tasks);
  CHECK(tasks == 197);
  CHECK(right >= 187);
  support::count("tasks", std::size_t(tasks));
}

}  // namespace

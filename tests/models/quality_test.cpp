// Proves: the trained models are as good here as elsewhere, by perplexity and by exact answers.
#include <algorithm>
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
inlay::text::TokenIds prompt_of(const Json& task, const inlay::text::ChatTemplate& chat,
                                const inlay::text::Tokenizer& tokenizer) {
  const auto messages = task["messages"].dump(), tools = task.contains("tools") ? task["tools"].dump() : std::string();
  const auto rendered = chat.render({.messages = messages, .tools = tools, .bos_token = "", .eos_token = ""});
  std::vector<inlay::text::Segment> segments;
  for (const auto& span : rendered.spans)
    segments.push_back({std::string_view(rendered.text).substr(span.begin, span.end - span.begin),
                        span.kind == inlay::text::Span::Kind::template_text});
  return tokenizer.encode(segments, true);
}

// Which of the tasks that `counts` says are answered exactly.
template <class Counts>
std::vector<bool> answered(const std::string& path, const inlay::LoadOptions& options, const Counts& counts) {
  const auto model = inlay::Model::load(path, options);
  const auto tokenizer = inlay::text::Tokenizer::from(inlay::gguf::File::open(path));
  const inlay::text::ChatTemplate chat(model.info().chat_template);
  std::vector<bool> right;
  std::istringstream lines(support::read(support::shared() / "models" / "tasks.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto task = Json::parse(line);
    if (!counts(task["cat"].get<std::string>())) continue;
    auto session = model.session();
    const auto answer =
        session.generate(prompt_of(task, chat, *tokenizer), inlay::Sampler::greedy(), {.tokens = 256}).text();
    right.push_back(answer == task["expected"].get<std::string>());
  }
  return right;
}

TEST_CASE("exact answers are at least those that the issue asks for") {
  if (support::shared().empty()) return;
  const auto path = (support::shared() / "models/inlay-nano-q8_0.gguf").string();
  const auto right = answered(path, {.threads = 2}, [](const std::string&) { return true; });
  const auto count = std::count(right.begin(), right.end(), true);
  INFO(count << " of " << right.size());
  CHECK(right.size() == 197);
  CHECK(count >= 187);
  support::count("tasks", right.size());
}

inlay::LoadOptions with_cache(inlay::CacheType type) { return {.threads = 2, .keys = type, .values = type}; }

TEST_CASE("a cache of eight bits costs a thousandth of perplexity at most, and one of four a fiftieth") {
  if (support::shared().empty()) return;
  const auto models = support::shared() / "models";
  const auto text = support::read(models / "eval-text.txt").substr(0, 40'000);
  const auto of = [&](inlay::CacheType type) {
    return perplexity(inlay::Model::load((models / "inlay-small-q8_0.gguf").string(), with_cache(type)), text, 1024);
  };
  const double f16 = of(inlay::CacheType::f16);
  CHECK(of(inlay::CacheType::q8_0) == Approx(f16).epsilon(0.001));
  CHECK(of(inlay::CacheType::q4_0) == Approx(f16).epsilon(0.02));
}

TEST_CASE("what was said before is recalled from a cache of any type") {
  if (support::shared().empty()) return;
  const auto path = (support::shared() / "models/inlay-nano-q8_0.gguf").string();
  const auto recalls = [](const std::string& kind) {
    return kind == "recall" || kind == "keyvalue" || kind == "needle";
  };
  const auto expected = answered(path, with_cache(inlay::CacheType::f16), recalls);
  CHECK(expected.size() == 40);
  CHECK(std::count(expected.begin(), expected.end(), true) >= 38);
  for (const auto type : {inlay::CacheType::q8_0, inlay::CacheType::q4_0}) {
    const auto right = answered(path, with_cache(type), recalls);
    for (std::size_t i = 0; i < right.size(); ++i) CHECK((right[i] || !expected[i]));
  }
}

TEST_CASE("a cached token takes the bytes that its types say") {
  const auto path = (support::data().parent_path().parent_path() / "examples/models/inlay-nano-q8_0.gguf").string();
  const auto file = inlay::gguf::File::open(path);
  const auto key = [&](const char* name) { return std::uint64_t(file.integer("llama." + std::string(name))); };
  const auto numbers = key("block_count") * key("attention.head_count_kv") * key("attention.key_length");
  const struct {
    inlay::CacheType type;
    double bytes;  // of a number, with its share of the block's scale
  } types[] = {{inlay::CacheType::f32, 4},
               {inlay::CacheType::f16, 2},
               {inlay::CacheType::bf16, 2},
               {inlay::CacheType::q8_0, 34.0 / 32},
               {inlay::CacheType::q4_0, 18.0 / 32}};
  for (const auto& keys : types)
    for (const auto& values : types)
      CHECK(double(inlay::Model::plan(path, {.keys = keys.type, .values = values.type}).per_token) ==
            Approx(double(numbers) * (keys.bytes + values.bytes)));
}

}  // namespace

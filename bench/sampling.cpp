// What choosing a token costs on a vocabulary of 152,064: the usual chain, its log-probability, and its text.
#include <benchmark/benchmark.h>

#include <random>

#include "api/row_passes.hpp"
#include "runtime/sampling.hpp"
#include "text/stream_decoder.hpp"

namespace {

using namespace inlay;

constexpr std::size_t vocabulary = 152064;

const runtime::RowPasses passes = row_passes();

std::vector<float> random_logits() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(vocabulary);
  for (auto& x : logits) x = normal(random);
  return logits;
}

void usual_chain(benchmark::State& state) {
  const auto logits = random_logits();
  runtime::Sampling sampling({}, 1, nullptr, passes);
  for (auto _ : state) benchmark::DoNotOptimize(sampling.choose(logits, {}));
}
BENCHMARK(usual_chain)->Unit(benchmark::kMicrosecond);

void greedy(benchmark::State& state) {
  const auto logits = random_logits();
  runtime::Sampling sampling(Sampler::greedy(), 1, nullptr, passes);
  for (auto _ : state) benchmark::DoNotOptimize(sampling.choose(logits, {}));
}
BENCHMARK(greedy)->Unit(benchmark::kMicrosecond);

void log_probability(benchmark::State& state) {
  const auto logits = random_logits();
  for (auto _ : state) benchmark::DoNotOptimize(runtime::log_sum(logits, passes));
}
BENCHMARK(log_probability)->Unit(benchmark::kMicrosecond);

// The whole way from logits to shown text, with the vocabulary of Qwen 2 where the full fixture set is.
void chain_and_text(benchmark::State& state) {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  try {
    tokenizer = text::Tokenizer::from(gguf::File::open(INLAY_SHARED_DIR "/fixtures/tokenizer/ggml-vocab-qwen2.gguf"));
  } catch (const Error& error) {
    return state.SkipWithError(error.what());
  }
  auto logits = random_logits();
  logits.resize(std::size_t(tokenizer->size()));
  runtime::Sampling sampling({}, 1, tokenizer.get(), passes);
  runtime::Maxima maxima(passes);
  text::StreamDecoder decoder(*tokenizer);
  for (auto _ : state) {
    maxima.find(logits);
    const auto id = sampling.choose(logits, {}, {}, &maxima);
    benchmark::DoNotOptimize(double(logits[std::size_t(id)]) - maxima.log_sum(logits));
    benchmark::DoNotOptimize(decoder.push(id));
  }
}
BENCHMARK(chain_and_text)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();

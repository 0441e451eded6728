// What a token mask costs on a vocabulary of 128,256: at every token of documents under schemas shaped like those in
// use.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/constraint.hpp"
#include "text/token_mask.hpp"

namespace {

using namespace inlay;
using Json = nlohmann::ordered_json;

const std::string fixtures = INLAY_SHARED_DIR "/fixtures/";

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

struct Work {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::unique_ptr<runtime::TokenPieces> pieces;
  std::map<std::string, std::vector<text::TokenIds>> documents = {};  // of each schema
};

const Work& work() {
  static const Work all = [] {
    Work work{text::Tokenizer::from(gguf::File::open(fixtures + "tokenizer/ggml-vocab-llama-bpe.gguf")), {}};
    work.pieces = std::make_unique<runtime::TokenPieces>(*work.tokenizer);
    std::map<std::string, std::string> schemas;
    for (const auto& line : lines_of(fixtures + "schema/real_schemas.jsonl"))
      schemas[line["name"]] = line["schema"].dump();
    for (const auto& line : lines_of(fixtures + "schema/real.jsonl"))
      if (line["valid"] && line["class"] == "core")
        work.documents[schemas.at(line["schema_name"])].push_back(
            work.tokenizer->encode(line["forms"][0].get<std::string>(), {}));
    return work;
  }();
  return all;
}

// The time of each mask, in microseconds; the grammar is told each token afterwards.
void follow(const Work& work, const Grammar& grammar, std::span<const text::TokenIds> documents,
            std::vector<double>& times) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::uint64_t> bits(work.pieces->trie.words());
  for (const auto& document : documents) {
    text::GrammarState state(grammar);
    for (const auto id : document) {
      const auto begin = Clock::now();
      text::mask_tokens(state, work.pieces->trie, bits);
      benchmark::DoNotOptimize(bits.data());
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      if (!state.accept(work.pieces->text(id))) break;
    }
  }
}

// Every iteration compiles the schemas anew, so that no mask is known before a document asks for it first.
void masks(benchmark::State& state) {
  const auto& all = work();
  std::vector<double> times, compiling;
  for (auto _ : state) {
    double seconds = 0;
    for (const auto& [schema, documents] : all.documents) {
      const auto begin = std::chrono::steady_clock::now();
      const auto grammar = Grammar::json_schema(schema);
      compiling.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
      const auto before = times.size();
      follow(all, grammar, documents, times);
      for (auto i = before; i < times.size(); ++i) seconds += times[i] * 1e-6;
    }
    state.SetIterationTime(seconds);
  }
  const auto share = [](std::vector<double>& values, double part) {
    const auto at = values.begin() + std::ptrdiff_t(double(values.size() - 1) * part);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  state.counters["tokens"] = double(times.size()) / double(state.iterations());
  state.counters["median_us"] = share(times, 0.5);
  state.counters["p99_us"] = share(times, 0.99);
  state.counters["most_us"] = share(times, 1);
  state.counters["compile_median_ms"] = share(compiling, 0.5);
}
BENCHMARK(masks)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

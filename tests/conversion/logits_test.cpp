// Converted files load, use all of their tensors, and say the logits that transformers computes for the same folder.
#include "inlay/convert.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "inlay/inlay.h"
#include "inlay/inlay.hpp"
#include "tests/conversion/helpers.hpp"

using inlay::WeightType;
using nlohmann::json;
using support::model_folder;
using support::Work;

namespace {

// The largest difference of the last row of logits, against the largest logit.
double difference(const std::string& file, const json& expected) {
  inlay::LoadOptions options;
  options.threads = 2;
  options.isa = "reference";
  options.context = 128;  // within the first context of those that were stretched
  options.keys = options.values = inlay::CacheType::f32;
  const auto model = inlay::Model::load(file, options);
  CHECK(inlay::Model::unused_tensors(file).empty());
  auto session = model.session();
  const auto tokens = expected["tokens"].get<std::vector<inlay::TokenId>>();
  const auto logits = session.evaluate(tokens);
  const auto last = expected["last"].get<std::vector<double>>();
  REQUIRE(logits.size() == last.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < last.size(); ++i) {
    most = std::max(most, std::fabs(double(logits[i]) - last[i]));
    largest = std::max(largest, std::fabs(last[i]));
  }
  return most / largest;
}

}  // namespace

TEST_CASE("converted files give the logits of the original implementation") {
  for (const std::string model :
       {"llama", "mistral", "smollm3", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3"}) {
    INFO(model);
    const Work work;
    inlay::convert(model_folder(model), work.file("out.gguf"), {.type = WeightType::f32});
    const auto expected = json::parse(support::read(model_folder(model) + "/logits.json"));
    CHECK(difference(work.file("out.gguf"), expected) < 1e-5);
  }
}

TEST_CASE("the C door converts, and reports what is wrong") {
  const Work work;
  const std::string from = model_folder("qwen2"), to = work.file("out.gguf");
  inlay_error error;
  float last = 0;
  const auto watch = [](void* user, float done) {
    *static_cast<float*>(user) = done;
    return 1;
  };
  CHECK(inlay_convert(inlay_string(from.c_str()), inlay_string(to.c_str()), INLAY_WEIGHT_SOURCE, watch, &last,
                      &error) == INLAY_OK);
  CHECK(last == 1);
  CHECK(support::read(to).size() == std::filesystem::file_size(from + "/expected-auto.gguf"));
  CHECK(inlay_convert(inlay_string("nowhere"), inlay_string(to.c_str()), INLAY_WEIGHT_SOURCE, nullptr, nullptr,
                      &error) == INLAY_IO);
  const auto give_up = [](void*, float) { return 0; };
  CHECK(inlay_convert(inlay_string(from.c_str()), inlay_string(to.c_str()), INLAY_WEIGHT_F16, give_up, nullptr,
                      &error) == INLAY_CANCELLED);
}

// Proves: every hostile or unusual model file is refused with the right kind of error, or loads and runs the same.
#include <map>
#include <nlohmann/json.hpp>

#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::Fault;
using Json = nlohmann::json;

const char* name_of(Fault fault) {
  constexpr const char* names[] = {"none",       "truncated",     "bad_magic",    "bad_version",   "bad_endian",
                                   "bad_count",  "bad_string",    "bad_type",     "bad_alignment", "bad_dims",
                                   "overflow",   "out_of_bounds", "duplicate",    "missing_key",   "missing_tensor",
                                   "wrong_type", "bad_value",     "inconsistent", "unsupported",   "limit"};
  return names[std::size_t(fault)];
}

// Eight greedy tokens after BOS (or token 0).
std::vector<inlay::TokenId> run(const std::string& path) {
  const auto model = inlay::Model::load(path, {.threads = 1, .context = 256});
  auto session = model.session();
  const inlay::TokenId first[] = {std::max(0, model.info().bos)};
  std::vector<inlay::TokenId> made;
  auto reply = session.generate(first, inlay::Sampler::greedy(), {.tokens = 8, .ignore_end = true});
  for (const auto& token : reply) made.push_back(token.id);
  return made;
}

bool is_listed(const Json& file, const std::string& kind) {
  if (file.value("kind", "") == kind) return true;
  for (const auto& also : file.value("also", Json::array()))
    if (also == kind) return true;
  return false;
}

void check_refused(const Json& file, const std::string& path) {
  try {
    run(path);
    FAIL_CHECK("loaded");
  } catch (const inlay::Error& error) {
    INFO(error.what());
    CHECK(is_listed(file, name_of(error.fault())));
  }
}

void check_either(const std::string& path) {
  try {
    const auto made = run(path);
    CHECK(made.size() == 8);
  } catch (const inlay::Error& error) {
    CHECK(std::string(error.what()).size() > 0);
  }
}

TEST_CASE("hostile model files are refused by kind, unusual ones run the same") {
  for (const auto& folder : support::folders("malformed/gguf")) {
    const auto manifest_here = folder / "manifest.json";
    const auto manifest =
        std::filesystem::exists(manifest_here) ? manifest_here : folder.parent_path() / "manifest.json";
    std::map<std::string, std::vector<inlay::TokenId>> outputs;
    const auto files = Json::parse(support::read(manifest))["files"];
    for (const auto& file : files) {
      const auto path = (folder / std::filesystem::path(file["file"].get<std::string>()).filename()).string();
      INFO(file["name"].get<std::string>());
      if (file["expect"] == "reject")
        check_refused(file, path);
      else if (file["expect"] == "either")
        check_either(path);
      else
        CHECK_NOTHROW(outputs[file["name"]] = run(path));
      support::count("malformed-models", 1);
    }
    for (const auto& file : files)
      if (file.contains("same_output_as")) {
        INFO(file["name"].get<std::string>());
        CHECK(outputs[file["name"]] == outputs[file["same_output_as"]]);
      }
  }
}

}  // namespace

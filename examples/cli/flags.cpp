// The flags that several subcommands have in common.
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "cli/cli.hpp"

namespace cli {
namespace {

const std::map<std::string, inlay::CacheType> cache_types = {
    {"auto", inlay::CacheType::automatic}, {"f16", inlay::CacheType::f16},   {"f32", inlay::CacheType::f32},
    {"bf16", inlay::CacheType::bf16},      {"q8_0", inlay::CacheType::q8_0}, {"q4_0", inlay::CacheType::q4_0}};

const std::map<std::string, inlay::WeightPlace> weight_places = {{"memory", inlay::WeightPlace::memory},
                                                                 {"packed_file", inlay::WeightPlace::packed_file},
                                                                 {"model_file", inlay::WeightPlace::model_file}};

inlay::LoadOptions options_of(const ModelFlags& flags) {
  auto options = flags.options;
  options.keys = options.values = cache_types.at(flags.cache);
  options.log = [](inlay::Level level, std::string_view message) {
    if (level >= inlay::Level::warning) std::cerr << message << '\n';
  };
  return options;
}

}  // namespace

void add_model_flags(CLI::App& command, ModelFlags& flags) {
  flags.path = INLAY_DEFAULT_MODEL;
  command.add_option("-m,--model", flags.path, "GGUF file; without it, the small model that comes with the source");
  command.add_option("-t,--threads", flags.options.threads, "threads; 0: one for each physical core")
      ->check(CLI::Range(0, 1024));
  command.add_option("--isa", flags.options.isa, "instruction set, for example avx2, baseline or reference");
  command.add_option("--device", flags.options.device, "device to compute on")->capture_default_str();
  command.add_option("-c,--ctx", flags.options.context, "tokens of context; 0: what the model was trained for")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--kv", flags.cache, "type of cached keys and values")
      ->check(CLI::IsMember({"auto", "f16", "f32", "bf16", "q8_0", "q4_0"}))
      ->capture_default_str();
  command.add_option("--weights", flags.options.weights, "where weights lie: memory, packed_file, model_file")
      ->transform(CLI::Transformer(weight_places));
  command.add_flag("!--no-reuse", flags.options.reuse_prefixes, "read again what sessions have read that begin alike");
  command.add_flag("--heads", flags.options.heads, "let the file's heads guess tokens (Medusa, MTP)");
  command.add_flag("--contiguous", flags.options.contiguous, "keep each session's keys and values in one range");
}

inlay::Model load(const ModelFlags& flags) {
  auto options = options_of(flags);
  options.progress = [](float done) {
    show_progress("loading", done);
    return true;
  };
  auto model = inlay::Model::load(flags.path, options);
  clear_progress();
  return model;
}

inlay::Model load_vocabulary(const ModelFlags& flags) {
  auto options = options_of(flags);
  options.vocabulary_only = true;
  return inlay::Model::load(flags.path, options);
}

void add_grammar_flags(CLI::App& command, inlay::Grammar& grammar) {
  const auto constrain = [&command, &grammar](const char* flag, const char* help,
                                              inlay::Grammar (*compile)(const std::string&)) {
    const auto set = [&grammar, compile](const std::string& value) { grammar = compile(value); };
    return command.add_option_function<std::string>(flag, set, help);
  };
  auto* schema = constrain("--schema", "write JSON that is valid under the schema in this file",
                           [](const std::string& file) { return inlay::Grammar::json_schema(read_file(file)); });
  auto* rules = constrain("--grammar", "write what the GBNF rules in this file allow",
                          [](const std::string& file) { return inlay::Grammar::gbnf(read_file(file)); });
  auto* regex = constrain("--regex", "write text that this pattern matches",
                          [](const std::string& pattern) { return inlay::Grammar::regex(pattern); });
  schema->excludes(rules)->excludes(regex);
  rules->excludes(regex);
}

inlay::Grammar grammar(const Request& request, const inlay::Grammar& otherwise) {
  if (request.has("schema")) return inlay::Grammar::json_schema(print(request.json("schema")));
  if (request.has("gbnf")) return inlay::Grammar::gbnf(request.text("gbnf"));
  if (request.has("regex")) return inlay::Grammar::regex(request.text("regex"));
  return otherwise;
}

std::string text_or_stdin(const CLI::Option* given, const std::string& text) {
  if (given->count() > 0) return text;
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw inlay::Error(inlay::Errc::io, "cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cli

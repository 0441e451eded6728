// How text is made: the same fields as flags of a subcommand and as fields of a request.
#include <algorithm>
#include <charconv>
#include <limits>

#include "cli/cli.hpp"

namespace cli {
namespace {

using inlay::Sampler;
using inlay::SamplerStep;

// A field of the recipe: its flag, its field in requests, and another name that scripts written for other engines use.
template <class Value>
struct Field {
  const char *flag, *name, *also, *help;
  Value Sampler::*value;
};

constexpr Field<float> numbers[] = {
    {"--temp", "temperature", "temp", "temperature; 0: always the likeliest token", &Sampler::temperature},
    {"--temp-range", "temperature_range", "dynatemp_range", "how far the temperature moves with the entropy",
     &Sampler::temperature_range},
    {"--temp-exponent", "temperature_exponent", "dynatemp_exponent", "exponent of the entropy",
     &Sampler::temperature_exponent},
    {"--top-p", "top_p", "top_p", "keep the likeliest tokens up to this probability", &Sampler::top_p},
    {"--min-p", "min_p", "min_p", "keep tokens at least this probable beside the likeliest", &Sampler::min_p},
    {"--typical-p", "typical_p", "typ_p", "keep the tokens of the most expected surprise up to this probability",
     &Sampler::typical_p},
    {"--top-n-sigma", "top_n_sigma", "top_n_sigma", "forbid logits this many deviations below the largest; 0: none",
     &Sampler::top_n_sigma},
    {"--xtc-probability", "xtc_probability", "xtc_probability", "how often the likeliest choices are excluded",
     &Sampler::xtc_probability},
    {"--xtc-threshold", "xtc_threshold", "xtc_threshold", "probability above which a choice may be excluded",
     &Sampler::xtc_threshold},
    {"--repeat-penalty", "repeat_penalty", "repeat_penalty", "make recent tokens less likely; 1: off",
     &Sampler::repeat_penalty},
    {"--frequency-penalty", "frequency_penalty", "frequency_penalty", "subtracted for each time a token was said",
     &Sampler::frequency_penalty},
    {"--presence-penalty", "presence_penalty", "presence_penalty", "subtracted once for a token that was said",
     &Sampler::presence_penalty},
    {"--dry-multiplier", "dry_multiplier", "dry_multiplier", "penalty on repeated sequences; 0: off",
     &Sampler::dry_multiplier},
    {"--dry-base", "dry_base", "dry_base", "what each repeated token multiplies it by", &Sampler::dry_base},
    {"--mirostat-tau", "mirostat_tau", "mirostat_tau", "surprise aimed at, in bits a token", &Sampler::mirostat_tau},
    {"--mirostat-eta", "mirostat_eta", "mirostat_eta", "how fast mirostat learns", &Sampler::mirostat_eta},
    {"--adaptive-target", "adaptive_target", "adaptive_target", "prefer tokens near this probability; below 0: off",
     &Sampler::adaptive_target},
    {"--adaptive-decay", "adaptive_decay", "adaptive_decay", "memory of the probabilities chosen",
     &Sampler::adaptive_decay},
};

constexpr Field<int> counts[] = {
    {"--top-k", "top_k", "top_k", "keep the k likeliest tokens; 0: all", &Sampler::top_k},
    {"--repeat-window", "repeat_window", "repeat_last_n", "tokens that penalties look back at; -1: all",
     &Sampler::repeat_window},
    {"--dry-allowed", "dry_allowed", "dry_allowed_length", "repetitions shorter than this are let through",
     &Sampler::dry_allowed},
    {"--dry-window", "dry_window", "dry_penalty_last_n", "tokens that dry looks back at; -1: all",
     &Sampler::dry_window},
    {"--mirostat", "mirostat", "mirostat", "1 or 2: keep the surprise near tau; 0: off", &Sampler::mirostat},
    {"--min-keep", "min_keep", "min_keep", "tokens that the cuts by probability leave at least", &Sampler::min_keep},
};

SamplerStep step_of(const std::string& name) {
  constexpr std::string_view names[] = {"bias",  "penalties", "dry", "top_n_sigma", "top_k",      "typical_p",
                                        "top_p", "min_p",     "xtc", "infill",      "temperature"};
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names))
    throw inlay::Error(inlay::Errc::argument, "field \"order\": there is no step " + name, inlay::Fault::bad_value,
                       "order");
  return static_cast<SamplerStep>(found - std::begin(names));
}

std::vector<SamplerStep> steps_of(const std::vector<std::string>& names) {
  std::vector<SamplerStep> steps;
  for (const auto& name : names) steps.push_back(step_of(name));
  return steps;
}

[[noreturn]] void refuse_bias() {
  throw inlay::Error(inlay::Errc::argument, "field \"logit_bias\" must hold token ids, each with a number",
                     inlay::Fault::wrong_type, "logit_bias");
}

template <class Value>
Value parse(std::string_view text) {
  Value value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse_bias();
  return value;
}

// {"id": number, ...} or [[id, number], ...]; false forbids a token.
std::vector<inlay::TokenBias> biases(const Json& given) {
  const auto logit = [](const Json& value) {
    if (value.is_boolean() && !value.get<bool>()) return -std::numeric_limits<float>::infinity();
    if (!value.is_number()) refuse_bias();
    return value.get<float>();
  };
  std::vector<inlay::TokenBias> list;
  if (given.is_object()) {
    for (const auto& [id, value] : given.items()) list.push_back({parse<inlay::TokenId>(id), logit(value)});
    return list;
  }
  if (!given.is_array()) refuse_bias();
  for (const auto& pair : given) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer()) refuse_bias();
    list.push_back({pair[0].get<inlay::TokenId>(), logit(pair[1])});
  }
  return list;
}

int bounded(const Request& request, const char* field, int otherwise) {
  const auto given = request.integer(field, otherwise);
  return static_cast<int>(std::clamp<std::int64_t>(given, -1, std::numeric_limits<int>::max()));
}

}  // namespace

void add_sampling_flags(CLI::App& command, SamplingFlags& flags) {
  auto& sampler = flags.sampler;
  command.add_option("-n,--tokens", flags.limits.tokens, "tokens at most; -1: while the context has room")
      ->capture_default_str();
  for (const auto& field : numbers)
    command.add_option(field.flag, sampler.*field.value, field.help)->capture_default_str();
  for (const auto& field : counts)
    command.add_option(field.flag, sampler.*field.value, field.help)->capture_default_str();
  command.add_option("--dry-breaker", sampler.dry_breakers, "no repetition reaches over this text; may be repeated");
  command
      .add_option_function<std::vector<std::string>>(
          "--order", [&sampler](const auto& names) { sampler.order = steps_of(names); },
          "the sampler's steps in their order, with commas between them")
      ->delimiter(',');
  command.add_option("--seed", sampler.seed, "the same seed gives the same text");
  command.add_option("--stop", flags.limits.stop, "end before this text; may be given several times");
  add_grammar_flags(command, sampler.grammar);
  command.add_flag("--ignore-eos", flags.limits.ignore_end, "go on after the model's end of text");
}

SamplingFlags sampling(const Request& request, const SamplingFlags& otherwise) {
  auto flags = otherwise;
  auto& [sampler, limits] = flags;
  for (const auto& field : numbers)
    for (const auto* name : {field.also, field.name})
      sampler.*field.value = static_cast<float>(request.number(name, sampler.*field.value));
  for (const auto& field : counts)
    for (const auto* name : {field.also, field.name})
      sampler.*field.value = bounded(request, name, sampler.*field.value);
  for (const auto* name : {"dry_sequence_breakers", "dry_breakers"})
    if (request.has(name)) sampler.dry_breakers = request.texts(name);
  if (request.has("order")) sampler.order = steps_of(request.texts("order"));
  if (request.has("logit_bias")) sampler.bias = biases(request.json("logit_bias"));
  if (request.has("seed")) sampler.seed = static_cast<std::uint64_t>(request.integer("seed", 0));
  limits.tokens = bounded(request, "max_tokens", limits.tokens);
  limits.ignore_end = request.flag("ignore_eos", limits.ignore_end);
  if (request.has("stop")) limits.stop = request.texts("stop");
  sampler.grammar = grammar(request, sampler.grammar);
  return flags;
}

}  // namespace cli

// `inlay inspect`: what is in a GGUF file, and what it would take to run it.
#include <iomanip>
#include <iostream>
#include <memory>

#include "cli/cli.hpp"
#include "inlay/gguf.hpp"

namespace cli {
namespace {

constexpr std::size_t shown = 6;  // elements of an array in the table for people

struct Options {
  ModelFlags model;
  bool json = false, load = false, unused = false;
};

Json element(const inlay::gguf::Value& value, std::size_t i) {
  using Type = inlay::gguf::ValueType;
  switch (value.element_type()) {
    case Type::text: return value.text(i).value_or("");
    case Type::boolean: return value.flag(i).value_or(false);
    case Type::f32:
    case Type::f64: return value.real(i).value_or(0);
    case Type::array: return nullptr;
    default: break;
  }
  if (const auto number = value.integer(i)) return *number;
  return value.real(i).value_or(0);
}

Json json(const inlay::gguf::Value& value, std::size_t most) {
  if (value.type() != inlay::gguf::ValueType::array) return element(value, 0);
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(value.size(), most); ++i) list.push_back(element(value, i));
  return list;
}

// Nothing for files that are no models: those have no plan.
Json plan(const Options& options) {
  try {
    const auto plan = inlay::Model::plan(options.model.path, options.model.options);
    return {{"weights", plan.weights},     {"scratch", plan.scratch}, {"page", plan.page},
            {"per_token", plan.per_token}, {"segment", plan.segment}, {"states", plan.states}};
  } catch (const inlay::Error&) {
    return nullptr;
  }
}

// What is likely to be a mistake in the file's chat template.
std::vector<std::string> remarks(const inlay::gguf::File& file) try {
  const std::string source(file.text("tokenizer.chat_template", ""));
  if (source.empty()) return {};
  const auto* tokens = file.find("tokenizer.ggml.tokens");
  const auto bos = file.integer("tokenizer.ggml.bos_token_id", -1);
  const bool known = tokens && bos >= 0 && static_cast<std::size_t>(bos) < tokens->size();
  const std::string text(known ? tokens->text(static_cast<std::size_t>(bos)).value_or("") : "");
  return inlay::ChatTemplate(source).lint(text, file.flag("tokenizer.ggml.add_bos_token", false));
} catch (const inlay::Error& error) {
  return {error.what()};
}

void print_json(const inlay::gguf::File& file, const Options& options) {
  Json metadata = Json::object(), tensors = Json::array();
  for (const auto& key : file.keys()) metadata[std::string(key.name)] = json(key.value, key.value.size());
  for (const auto& tensor : file.tensors()) {
    tensors.push_back({{"name", tensor.name},
                       {"type", inlay::gguf::type_name(tensor.type)},
                       {"shape", tensor.shape},
                       {"bytes", tensor.data.size()}});
  }
  std::cout << print({{"version", file.version()},
                      {"alignment", file.alignment()},
                      {"bytes", file.bytes()},
                      {"metadata", metadata},
                      {"tensors", tensors},
                      {"plan", plan(options)},
                      {"chat_template_remarks", remarks(file)}})
            << '\n';
}

void print_tables(const inlay::gguf::File& file, const Options& options) {
  std::cout << "GGUF " << file.version() << ", " << file.bytes() << " bytes, " << file.keys().size() << " keys, "
            << file.tensors().size() << " tensors\n\n";
  for (const auto& key : file.keys()) {
    std::cout << std::left << std::setw(44) << key.name << ' ' << print(json(key.value, shown));
    if (key.value.size() > shown) std::cout << " ... " << key.value.size() << " elements";
    std::cout << '\n';
  }
  std::cout << '\n';
  for (const auto& tensor : file.tensors()) {
    std::cout << std::left << std::setw(36) << tensor.name << ' ' << std::setw(8) << inlay::gguf::type_name(tensor.type)
              << std::setw(16) << print(tensor.shape) << std::right << std::setw(14) << tensor.data.size() << '\n';
  }
  if (const auto bytes = plan(options); !bytes.is_null()) std::cout << "\nmemory " << print(bytes) << '\n';
  for (const auto& remark : remarks(file)) std::cout << "\nchat template: " << remark << '\n';
}

// Proves that the whole model works: loads it and lets it speak.
void continue_bos(const Options& options) {
  const auto model = load(options.model);
  auto session = model.session();
  const inlay::TokenId first = std::max(model.info().bos, 0);
  Json tokens = Json::array();
  for (const auto& token :
       session.generate(std::span(&first, 1), inlay::Sampler::greedy(), {.tokens = 8, .ignore_end = true})) {
    tokens.push_back(token.id);
  }
  std::cout << print({{"tokens", tokens}}) << '\n';
}

// The tensors that no block asks for: one name a line.
void print_unused(const Options& options) {
  const auto names = inlay::Model::unused_tensors(options.model.path, options.model.options);
  if (options.json) {
    std::cout << print({{"unused", names}}) << '\n';
    return;
  }
  for (const auto& name : names) std::cout << name << '\n';
  if (names.empty() && person_watches()) std::cerr << "every tensor of the file is used\n";
}

void inspect(const Options& options) {
  if (options.unused) return print_unused(options);
  if (options.load) return continue_bos(options);
  const auto file = inlay::gguf::File::open(options.model.path);
  options.json ? print_json(file, options) : print_tables(file, options);
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("inspect", "Show what is in a GGUF file");
  add_model_flags(command, options->model);
  command.add_option("file", options->model.path, "GGUF file");
  command.add_flag("--load", options->load, "load the whole model and continue its first token");
  command.add_flag("--unused", options->unused, "show the tensors that the model never asks for");
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] { inspect(*options); });
}

}  // namespace cli

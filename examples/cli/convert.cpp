// `inlay convert`: a folder of Hugging Face's transformers becomes a GGUF file.
#include <map>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  std::string folder, out, type = "auto";
};

void convert(const Options& options) {
  using enum inlay::WeightType;
  const std::map<std::string, inlay::WeightType> types = {
      {"auto", source}, {"f32", f32}, {"f16", f16}, {"bf16", bf16}, {"q8_0", q8_0}};
  inlay::convert(options.folder, options.out, {.type = types.at(options.type), .progress = [](float done) {
                                                 show_progress("converting", done);
                                                 return true;
                                               }});
  clear_progress();
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("convert", "Write a Hugging Face model as a GGUF file");
  command.add_option("folder", options->folder, "folder with config.json, safetensors and a tokenizer")->required();
  command.add_option("-o,--output", options->out, "GGUF file to write")->required();
  command.add_option("--type", options->type, "how matrices are stored: auto (as they are), f32, f16, bf16, q8_0")
      ->check(CLI::IsMember({"auto", "f32", "f16", "bf16", "q8_0"}));
  command.callback([options] { convert(*options); });
}

}  // namespace cli

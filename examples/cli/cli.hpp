// What the subcommands of the `inlay` program share: flags, errors, and the line-by-line form for scripts.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "cli/json.hpp"
#include "inlay/inlay.hpp"

namespace cli {

// One subcommand a file: each adds itself to the program, and what it does when it is called.
void add_run(CLI::App&);
void add_chat(CLI::App&);
void add_inspect(CLI::App&);
void add_tokenize(CLI::App&);
void add_detokenize(CLI::App&);
void add_logits(CLI::App&);
void add_perplexity(CLI::App&);
void add_embed(CLI::App&);
void add_rerank(CLI::App&);
void add_render(CLI::App&);
void add_grammar(CLI::App&);
void add_bench(CLI::App&);
void add_sample(CLI::App&);
void add_convert(CLI::App&);

// The model and how it is loaded: -m --threads --isa --device --ctx --kv.
struct ModelFlags {
  std::string path;
  std::string cache = "auto";
  inlay::LoadOptions options = {};
};
void add_model_flags(CLI::App&, ModelFlags&);
inlay::Model load(const ModelFlags&);             // shows progress where a person watches
inlay::Model load_vocabulary(const ModelFlags&);  // enough to turn text into tokens and back

// How text is made: -n --seed --stop --ignore-eos --schema --grammar --regex, and a flag for each number of a Sampler.
struct SamplingFlags {
  inlay::Sampler sampler = {};
  inlay::Limits limits = {};
};
void add_sampling_flags(CLI::App&, SamplingFlags&);
void add_grammar_flags(CLI::App&, inlay::Grammar&);                      // --schema --grammar --regex
SamplingFlags sampling(const Request&, const SamplingFlags& otherwise);  // the fields of a request over the flags

inlay::Grammar grammar(const Request&, const inlay::Grammar& otherwise);  // "schema", "gbnf" or "regex"

// The text given as an argument, or all of stdin where it is absent.
std::string text_or_stdin(const CLI::Option* given, const std::string& text);
std::string read_file(const std::string& path);

// Reads a JSON object a line and answers each with one line. A failed line is answered with its error; the run goes on.
void answer_lines(const std::function<Json(const Request&)>& answer);

Json describe(const inlay::Error&);  // {"error": {"kind", "message"}}
Json describe(const inlay::Stats&);
std::string_view name(inlay::Finish);
bool person_watches();  // stderr is a terminal
void show_progress(std::string_view what,
                   double done);  // one line that overwrites itself; does nothing if nobody watches
void clear_progress();

}  // namespace cli

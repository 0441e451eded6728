// The `inlay` program: language models from the command line, for people and for scripts.
#include <iostream>

#include "cli/cli.hpp"

namespace {

constexpr int failed = 1, bad_input = 2;  // exit codes beside 0

bool wants_json(const CLI::App& app) {
  for (const auto* command : app.get_subcommands()) {
    const auto* option = command->get_option_no_throw("--json");
    if (option && option->count() > 0) return true;
  }
  return false;
}

int report(const inlay::Error& error, bool json) {
  cli::clear_progress();
  if (json) std::cout << cli::print(cli::describe(error)) << '\n';
  std::cerr << "inlay: " << error.what() << '\n';
  switch (error.code()) {
    case inlay::Errc::io:
    case inlay::Errc::format:
    case inlay::Errc::unsupported:
    case inlay::Errc::argument: return bad_input;
    default: return failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs large language models from GGUF files.", "inlay");
  app.set_version_flag("--version", INLAY_VERSION);
  app.require_subcommand(1);
  for (auto add : {cli::add_run, cli::add_chat, cli::add_inspect, cli::add_tokenize, cli::add_detokenize,
                   cli::add_logits, cli::add_perplexity, cli::add_embed, cli::add_rerank, cli::add_render,
                   cli::add_grammar, cli::add_bench, cli::add_sample, cli::add_convert}) {
    add(app);
  }
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input;
  } catch (const inlay::Error& error) {
    return report(error, wants_json(app));
  } catch (const std::exception& error) {
    std::cerr << "inlay: " << error.what() << '\n';
    return failed;
  }
}

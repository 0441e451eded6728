// `inlay render`: a conversation as the text that a model reads, and whose words stand where.
#include <charconv>
#include <iostream>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  std::string messages;
  CLI::Option* given = nullptr;
  bool lines = false;
};

std::string_view name(inlay::PromptSpan::Kind kind) {
  constexpr std::string_view names[] = {"template", "system", "user", "assistant", "tool", "other"};
  return names[static_cast<std::size_t>(kind)];
}

// Seconds since 1970 of "YYYY-MM-DDThh:mm:ss", by the days of the civil calendar (Hinnant 2013).
std::int64_t seconds_of(const std::string& time) {
  int parts[6] = {};
  constexpr std::size_t begins[] = {0, 5, 8, 11, 14, 17}, lengths[] = {4, 2, 2, 2, 2, 2};
  bool good = time.size() >= 19;
  for (int i = 0; good && i < 6; ++i) {
    const char* begin = time.data() + begins[i];
    good = std::from_chars(begin, begin + lengths[i], parts[i]).ptr == begin + lengths[i];
  }
  if (!good || parts[1] < 1 || parts[1] > 12) {
    throw inlay::Error(inlay::Errc::argument, "field \"now\" must be a time like 2026-03-14T15:09:26",
                       inlay::Fault::bad_value, "now");
  }
  const int year = parts[0] - (parts[1] <= 2), month = (parts[1] + 9) % 12;  // March is the first month
  const auto days = 365LL * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + parts[2] - 1 - 719468;
  return ((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5];
}

// A field as the template sees it: null is none, an absent one is undefined.
std::string variable(const Request& request, const char* field) {
  return request.present(field) ? print(request.json_or_null(field)) : std::string();
}

inlay::RenderOptions render_options(const Request& request) {
  inlay::RenderOptions options{.messages = print(request.json("messages")),
                               .tools = variable(request, "tools"),
                               .documents = variable(request, "documents"),
                               .variables = request.has("vars") ? print(request.json("vars")) : "",
                               .add_generation_prompt = request.flag("add_generation_prompt", true)};
  if (request.has("now")) options.now = seconds_of(request.text("now"));
  return options;
}

Json answer(const Request& request) {
  const auto prompt = inlay::ChatTemplate(request.text("template")).render(render_options(request));
  Json spans = Json::array();
  for (const auto& span : prompt.spans)
    spans.push_back({{"begin", span.begin}, {"end", span.end}, {"kind", name(span.kind)}});
  return {{"text", prompt.text}, {"spans", spans}};
}

void render(const Options& options) {
  if (options.lines) return answer_lines(answer);
  const auto model = load_vocabulary(options.model);
  if (model.info().chat_template.empty()) {
    throw inlay::Error(inlay::Errc::unsupported, options.model.path + " has no chat template",
                       inlay::Fault::missing_key, "tokenizer.chat_template");
  }
  const auto piece = [&](inlay::TokenId id) { return id < 0 ? std::string() : model.piece(id); };
  const inlay::ChatTemplate chat(model.info().chat_template);
  for (const auto& warning : chat.lint()) std::cerr << "inlay: " << warning << '\n';
  std::cout << chat.render({.messages = text_or_stdin(options.given, options.messages),
                            .bos_token = piece(model.info().bos),
                            .eos_token = piece(model.info().eos)})
                   .text;
}

}  // namespace

void add_render(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("render", "Show a conversation as the model reads it");
  options->given = command.add_option("messages", options->messages, "JSON list of messages; without it, all of stdin");
  add_model_flags(command, options->model);
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line; each brings its template");
  command.callback([options] { render(*options); });
}

}  // namespace cli

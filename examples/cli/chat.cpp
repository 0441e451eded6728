// `inlay chat`: talk with a model in turns, through its own template.
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/cli.hpp"

namespace cli {
namespace {

struct Options {
  ModelFlags model;
  SamplingFlags sampling;
  inlay::ChatOptions chat;
  std::string tools;
  bool lines = false;
};

// Calls in the form of OpenAI, whose arguments may be an object or the text of one. False: they are something else.
bool read_calls(const Json& given, std::vector<inlay::ToolCall>& calls) {
  if (!given.is_array()) return false;
  for (const auto& call : given) {
    const auto function = call.is_object() ? call.value("function", Json()) : Json();
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string()) return false;
    const auto arguments = function.value("arguments", Json::object());
    const auto text = arguments.is_string() ? arguments.get<std::string>() : print(arguments);
    if (!Json::parse(text, nullptr, false).is_object()) return false;
    calls.push_back({function["name"].get<std::string>(), text, call.value("id", "")});
  }
  return true;
}

// Adds a message of the OpenAI form; what is beside role and content (tool_calls, name, ...) is passed on.
void add(inlay::Chat& chat, const Json& given) {
  if (!given.is_object() || !given.contains("role") || !given["role"].is_string()) {
    throw inlay::Error(inlay::Errc::argument, "field \"messages\" must hold objects with a role",
                       inlay::Fault::wrong_type, "messages");
  }
  auto fields = given;
  inlay::Message message;
  message.role = fields["role"].get<std::string>();
  fields.erase("role");
  if (const auto content = fields.find("content"); content != fields.end() && content->is_string()) {
    message.content = content->get<std::string>();
    fields.erase("content");
  }
  if (fields.contains("content") && fields["content"].is_null()) fields.erase("content");
  if (const auto calls = fields.find("tool_calls"); calls != fields.end() && read_calls(*calls, message.tool_calls)) {
    fields.erase("tool_calls");
  }
  if (!fields.empty()) message.fields = print(fields);
  chat.add(std::move(message));
}

Json parts_of(const inlay::Message& message) {
  Json calls = Json::array();
  for (const auto& call : message.tool_calls) {
    const auto arguments = Json::parse(call.arguments, nullptr, false);  // cut short, they are no JSON
    calls.push_back({{"name", call.name}, {"arguments", arguments.is_discarded() ? Json(call.arguments) : arguments}});
  }
  return {{"content", message.content}, {"reasoning", message.reasoning}, {"tool_calls", calls}};
}

inlay::ChatOptions chat_options(const Request& request, inlay::ChatOptions otherwise) {
  auto options = std::move(otherwise);
  if (request.has("tools")) options.tools = print(request.json("tools"));
  if (request.has("vars")) options.variables = print(request.json("vars"));
  if (request.has("tool_choice")) options.tool_choice = request.text("tool_choice");
  if (request.has("reasoning")) {
    options.reasoning = request.flag("reasoning", true) ? inlay::Reasoning::on : inlay::Reasoning::off;
  }
  options.reasoning_tokens = int(request.integer("reasoning_tokens", options.reasoning_tokens));
  if (options.tools == "[]") options.tools.clear();
  return options;
}

Json answer(const inlay::Model& model, const Request& request, const inlay::ChatOptions& options,
            const SamplingFlags& flags) {
  const auto& messages = request.json("messages");
  if (!messages.is_array() || messages.empty()) {
    throw inlay::Error(inlay::Errc::argument, "field \"messages\" must be a list of messages", inlay::Fault::wrong_type,
                       "messages");
  }
  inlay::Chat chat(model, chat_options(request, options));
  for (const auto& message : messages) add(chat, message);
  auto reply = chat.answer(flags.sampler, flags.limits);
  auto described = parts_of(reply.message());
  described["finish"] = name(reply.finish());
  described["stats"] = describe(reply.stats());
  return described;
}

// Reasoning and calls are for the other stream: the answer is what a reader asked for.
void show(const inlay::ReplyPart& part) {
  using Kind = inlay::ReplyPart::Kind;
  if (part.kind == Kind::answer) std::cout << part.text << std::flush;
  if (part.kind == Kind::tool_name) std::cerr << "\n[" << part.text << "] " << std::flush;
  if (part.kind == Kind::reasoning || part.kind == Kind::tool_arguments) std::cerr << part.text << std::flush;
}

void converse(inlay::Chat& chat, const SamplingFlags& flags) {
  const auto ask = [] {
    if (person_watches()) std::cerr << "> " << std::flush;
  };
  ask();
  for (std::string line; std::getline(std::cin, line); ask()) {
    if (line.empty()) continue;
    auto reply = chat.say(line, flags.sampler, flags.limits);
    for (const auto& part : reply) show(part);
    std::cout << std::endl;
    if (const int dropped = reply.stats().dropped_messages)
      std::cerr << "[the context was full: the oldest " << dropped << " messages are forgotten]\n";
  }
}

void chat(const Options& options) {
  auto chat_options = options.chat;
  if (!options.tools.empty()) chat_options.tools = read_file(options.tools);
  const auto model = load(options.model);
  if (options.lines) {
    return answer_lines([&](const Request& request) {
      return answer(model, request, chat_options, sampling(request, options.sampling));
    });
  }
  chat_options.when_full = inlay::WhenFull::drop;
  inlay::Chat chat(model, chat_options);
  converse(chat, options.sampling);
}

}  // namespace

void add_chat(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("chat", "Talk with a model in turns");
  command.add_option("--system", options->chat.system, "what the model is told before the first turn");
  command.add_option("--tools", options->tools, "JSON file with a list of tools");
  command.add_option("--tool-choice", options->chat.tool_choice, "auto, none, required, or the name of a tool")
      ->capture_default_str();
  command.add_flag_function(
      "--think,!--no-think",
      [options](std::int64_t on) { options->chat.reasoning = on > 0 ? inlay::Reasoning::on : inlay::Reasoning::off; },
      "whether the model reasons before it answers, where that can be chosen");
  command.add_option("--think-tokens", options->chat.reasoning_tokens, "tokens of reasoning at most; -1: any number")
      ->capture_default_str();
  add_model_flags(command, options->model);
  add_sampling_flags(command, options->sampling);
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { chat(*options); });
}

}  // namespace cli

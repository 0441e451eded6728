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
  std::string system, tools;
  bool lines = false;
};

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
  if (!fields.empty()) message.fields = print(fields);
  chat.add(std::move(message));
}

// An answer taken apart. A model that was given tools writes a call as <tool_call>{"name", "arguments"}</tool_call>.
Json parse_answer(const std::string& answer) {
  constexpr std::string_view open = "<tool_call>", close = "</tool_call>";
  std::string content;
  Json calls = Json::array();
  std::size_t at = 0;
  for (auto begin = answer.find(open); begin != std::string::npos; begin = answer.find(open, at)) {
    const auto end = answer.find(close, begin);
    if (end == std::string::npos) break;
    const auto call = Json::parse(answer.substr(begin + open.size(), end - begin - open.size()), nullptr, false);
    if (!call.is_object() || !call.contains("name") || !call.contains("arguments")) break;
    content += answer.substr(at, begin - at);
    calls.push_back({{"name", call["name"]}, {"arguments", call["arguments"]}});
    at = end + close.size();
  }
  content += answer.substr(at);
  if (!calls.empty() && content.find_first_not_of(" \n") == std::string::npos) content.clear();
  return {{"content", content}, {"reasoning", ""}, {"tool_calls", calls}};
}

Json answer(const inlay::Model& model, const Request& request, const SamplingFlags& flags) {
  const auto& messages = request.json("messages");
  if (!messages.is_array() || messages.empty()) {
    throw inlay::Error(inlay::Errc::argument, "field \"messages\" must be a list of messages", inlay::Fault::wrong_type,
                       "messages");
  }
  inlay::Chat chat(model, "", request.has("tools") ? print(request.json("tools")) : "");
  for (const auto& message : messages) add(chat, message);
  auto generation = chat.answer(flags.sampler, flags.limits);
  auto reply = parse_answer(generation.text());
  reply["finish"] = name(generation.finish());
  reply["stats"] = describe(generation.stats());
  return reply;
}

void converse(inlay::Chat& chat, const SamplingFlags& flags) {
  const auto ask = [] {
    if (person_watches()) std::cerr << "> " << std::flush;
  };
  ask();
  for (std::string line; std::getline(std::cin, line); ask()) {
    if (line.empty()) continue;
    for (std::string_view text : chat.say(line, flags.sampler, flags.limits)) std::cout << text << std::flush;
    std::cout << std::endl;
  }
}

void chat(const Options& options) {
  const auto model = load(options.model);
  if (options.lines) {
    return answer_lines(
        [&](const Request& request) { return answer(model, request, sampling(request, options.sampling)); });
  }
  inlay::Chat chat(model, options.system, options.tools.empty() ? "" : read_file(options.tools));
  converse(chat, options.sampling);
}

}  // namespace

void add_chat(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("chat", "Talk with a model in turns");
  command.add_option("--system", options->system, "what the model is told before the first turn");
  command.add_option("--tools", options->tools, "JSON file with a list of tools");
  add_model_flags(command, options->model);
  add_sampling_flags(command, options->sampling);
  command.add_flag("--jsonl", options->lines, "answer the JSON objects on stdin, one a line");
  command.callback([options] { chat(*options); });
}

}  // namespace cli

// Turns through the model's template: rendered, read from where they differ, and answered within what was asked for.
#include "inlay/chat.hpp"

#include <algorithm>

#include "api/chat_state.hpp"
#include "api/guarded.hpp"
#include "api/reply.hpp"
#include "text/grammar_rules.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

// Some files have a template of their own for chats with tools.
std::string_view template_of(const ModelState& model, const ChatOptions& options) {
  if (model.info.encoder_decoder)
    throw Error(Errc::unsupported, "an encoder-decoder answers to one text and holds no chat", Fault::unsupported,
                "model");
  const auto usual = model.file.text("tokenizer.chat_template", "");
  const auto source = options.tools.empty() ? usual : model.file.text("tokenizer.chat_template.tool_use", usual);
  if (source.empty())
    throw Error(Errc::unsupported, "this model's file has no chat template", Fault::missing_key,
                "tokenizer.chat_template");
  return source;
}

bool is_tool(std::string_view choice) { return choice != "auto" && choice != "none" && choice != "required"; }

ChatOptions checked(ChatOptions options) {
  if (options.tools.empty() && options.tool_choice != "auto" && options.tool_choice != "none")
    throw Error(Errc::argument, "tool_choice asks for a call, and there are no tools", Fault::bad_value, "tool_choice");
  if (!options.now) options.now = std::int64_t(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  return options;
}

text::MessageRules::Calls calls_of(const ChatOptions& options) {
  using Calls = text::MessageRules::Calls;
  if (options.tool_choice == "auto") return Calls::some;
  return options.tool_choice == "none" ? Calls::none : Calls::only;
}

bool ends_with(std::string_view text, std::string_view end) {
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  return !end.empty() && text.ends_with(end);
}

}  // namespace

ChatState::ChatState(const Model& handle, std::shared_ptr<const ModelState> state, ChatOptions given)
    : model(std::move(state)),
      options(checked(std::move(given))),
      chat(template_of(*model, options)),
      format(text::OutputFormat::of_template(chat.state_->compiled.source())),
      calls(format, chat.state_->compiled.source(), options.tools,
            is_tool(options.tool_choice) ? options.tool_choice : std::string()),
      session(handle.session({.draft = options.draft})) {
  if (!options.system.empty()) messages.push_back({"system", options.system});
}

Grammar ChatState::grammar_for(const Prompt& prompt, const Grammar& answer) {
  const bool within = begins_in_reasoning(prompt);
  const bool over = ends_with(prompt.text, format.reasoning_end);
  const text::MessageRules rules{.calls = calls_of(options),
                                 .may_reason = !within && !over && !format.reasoning_begin.empty(),
                                 .within_reasoning = within};
  const auto same = [](const Grammar& a, const Grammar& b) { return GrammarRules::of(a) == GrammarRules::of(b); };
  if (!latest_ || latest_->rules != rules || !same(latest_->answer, answer))
    latest_ = Latest{answer, calls.message(rules, answer), rules};
  return latest_->message;
}

Sampler ChatState::sampler_for(const Prompt& prompt, Sampler sampler) {
  sampler.grammar = {};
  const auto& compiled = chat.state_->compiled;
  const bool has_switch = std::ranges::any_of(
      std::initializer_list<const char*>{"enable_thinking", "thinking", "reasoning_effort", "thinking_budget"},
      [&](const char* name) { return compiled.mentions(name); });
  const bool off = options.reasoning == Reasoning::off && !has_switch;
  if (format.reasoning_end.empty() || (options.reasoning_tokens < 0 && !off)) return sampler;
  const auto most = off ? 0 : std::size_t(options.reasoning_tokens);
  budget_ = std::make_shared<api::ReasoningBudget>(*model->tokenizer, format, begins_in_reasoning(prompt), most);
  sampler.adjust = [budget = budget_, model = model, before = std::move(sampler.adjust)](
                       std::span<float> logits, std::span<const TokenId> so_far) {
    if (before) before(logits, so_far);
    (*budget)(logits, so_far);
  };
  return sampler;
}

Chat::Chat(const Model& model, std::string_view system) : Chat(model, ChatOptions{.system = std::string(system)}) {}

Chat::Chat(const Model& model, ChatOptions options)
    : state_(guarded([&] { return std::make_shared<ChatState>(model, model.state_, std::move(options)); })) {}

Reply Chat::say(std::string_view text, const Sampler& sampler, Limits limits) & {
  return guarded([&] {
    state_->messages.push_back({"user", std::string(text)});
    try {
      return answer(sampler, std::move(limits));
    } catch (...) {
      state_->messages.pop_back();
      throw;
    }
  });
}

Reply Chat::answer(const Sampler& sampler, Limits limits) & {
  return guarded([&] {
    auto& chat = *state_;
    const auto count = chat.messages.size(), left_out = chat.left_out;
    auto shown = chat.show(count, left_out);
    const auto whole = shown.tokens.size();
    const bool drops = chat.options.when_full == WhenFull::drop;
    if (drops && whole >= std::size_t(chat.model->engine->context())) chat.leave_out_turns(count, 0, shown);
    const auto& [prompt, tokens] = shown;
    const auto grammar = chat.grammar_for(prompt, sampler.grammar);
    auto recipe = chat.sampler_for(prompt, sampler);
    const auto read = chat.session.tokens();
    const auto same = std::size_t(std::ranges::mismatch(read, tokens).in1 - read.begin());
    const auto kept = std::min(same, tokens.size() - 1);  // at least the last token is read, for its logits
    chat.session.rewind(kept);
    auto generation = chat.session.generate(std::span<const TokenId>(tokens).subspan(kept), recipe, std::move(limits));
    auto& writer = generation.state_->writer;
    writer.write_reply(grammar);
    if (drops && !chat.cuts(count).empty())
      generation.state_->goes_on_when_full([chat = state_, count](auto& full) { return chat->make_room(count, full); });
    writer.stats.dropped_tokens = int(whole - tokens.size());
    writer.stats.dropped_messages = int(chat.left_out - left_out);
    writer.stats.prompt_tokens = int(tokens.size());
    writer.stats.reused_tokens += int(kept), writer.stats.known_tokens += int(kept);
    chat.note_reading(shown);
    return Reply(std::make_shared<ReplyState>(std::move(generation), state_, prompt));
  });
}

std::span<const Message> Chat::messages() const noexcept { return state_->messages; }
void Chat::add(Message message) {
  guarded([&] { state_->messages.push_back(std::move(message)); });
}

void Chat::add_result(const ToolCall& call, std::string_view result) {
  guarded([&] { add({.role = "tool", .content = std::string(result), .fields = result_fields(call)}); });
}

void Chat::edit(std::size_t turn, std::string_view text) {
  guarded([&] {
    auto& messages = state_->messages;
    if (turn >= messages.size())
      throw Error(Errc::argument,
                  "there is no turn " + std::to_string(turn) + ": the chat has " + std::to_string(messages.size()),
                  Fault::out_of_bounds, "turn");
    messages[turn].content = text;
    messages[turn].reasoning.clear();
    messages[turn].tool_calls.clear();
    messages.resize(turn + 1);
    if (state_->first_turn() + state_->left_out >= messages.size()) state_->left_out = 0;
  });
}

Session& Chat::session() noexcept { return state_->session; }
Chat::Chat(Chat&&) noexcept = default;
Chat& Chat::operator=(Chat&&) noexcept = default;
Chat::~Chat() = default;

}  // namespace v0
}  // namespace inlay

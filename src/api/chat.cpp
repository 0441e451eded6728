// Turns through the model's template: rendered, split by speaker, and read from where they differ.
#include "inlay/chat.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/generation.hpp"
#include "api/guarded.hpp"
#include "text/chat_template.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

struct TemplateState {
  explicit TemplateState(std::string_view source) : compiled(source) {}
  text::ChatTemplate compiled;
};

// The messages live apart from the chat, so that a generation may write its answer after the chat is gone.
struct ChatState {
  std::shared_ptr<const ModelState> model;
  ChatTemplate chat;
  Session session;
  std::shared_ptr<std::vector<Message>> messages = std::make_shared<std::vector<Message>>();
  std::string tools, variables;
};

namespace {

std::optional<std::tm> clock_of(const std::optional<std::int64_t>& seconds) {
  if (!seconds) return std::nullopt;
  // Civil date from days since 1970 (Hinnant 2013), without the time zone and the lock of the C library.
  const auto days = (*seconds >= 0 ? *seconds : *seconds - 86399) / 86400, rest = *seconds - days * 86400;
  const auto z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
  const auto day_of_era = z - era * 146097;
  const auto year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const auto day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto month = (5 * day_of_year + 2) / 153;
  std::tm time = {};
  time.tm_mday = int(day_of_year - (153 * month + 2) / 5 + 1);
  time.tm_mon = int(month < 10 ? month + 2 : month - 10);
  time.tm_year = int(year_of_era + era * 400 + (time.tm_mon <= 1) - 1900);
  time.tm_hour = int(rest / 3600), time.tm_min = int(rest / 60 % 60), time.tm_sec = int(rest % 60);
  time.tm_wday = int(((days + 4) % 7 + 7) % 7);
  constexpr int before_month[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int year = time.tm_year + 1900;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  time.tm_yday = before_month[time.tm_mon] + time.tm_mday - 1 + (leap && time.tm_mon > 1);
  return time;
}

nlohmann::ordered_json parsed_fields(const std::string& text) {
  constexpr int deepest = 64;
  const auto shallow = [](int depth, auto, auto&) {
    if (depth > deepest)
      throw Error(Errc::argument, "a message's fields are nested too deeply", Fault::limit, "fields");
    return true;
  };
  auto fields = nlohmann::ordered_json::parse(text, shallow, false);
  if (!fields.is_object())
    throw Error(Errc::argument, "a message's fields are not a JSON object", Fault::bad_value, "fields");
  return fields;
}

std::string as_json(std::span<const Message> messages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& message : messages) {
    nlohmann::ordered_json entry = {{"role", message.role}, {"content", message.content}};
    if (!message.fields.empty()) entry.update(parsed_fields(message.fields));
    list.push_back(std::move(entry));
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string token_text(const text::Tokenizer& tokenizer, TokenId id) {
  return id < 0 ? std::string() : std::string(tokenizer.token_text(id));
}

// The whole conversation in tokens. A BOS that the template writes is not doubled.
std::vector<TokenId> tokens_of(const Prompt& prompt, const text::Tokenizer& tokenizer) {
  std::vector<text::Segment> segments;
  for (const auto& span : prompt.spans)
    segments.push_back({std::string_view(prompt.text).substr(span.begin, span.end - span.begin),
                        span.kind == PromptSpan::Kind::template_text});
  const auto bos = token_text(tokenizer, tokenizer.bos());
  const bool written = !bos.empty() && prompt.text.starts_with(bos);
  return tokenizer.encode(segments, !written);
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source)
    : state_(guarded([&] { return std::make_shared<const TemplateState>(source); })) {}

Prompt ChatTemplate::render(const RenderOptions& options) const {
  return guarded([&] {
    auto rendered = state_->compiled.render({.messages = options.messages,
                                             .tools = options.tools,
                                             .documents = options.documents,
                                             .variables = options.variables,
                                             .add_generation_prompt = options.add_generation_prompt,
                                             .bos_token = options.bos_token,
                                             .eos_token = options.eos_token,
                                             .now = clock_of(options.now)});
    Prompt prompt{std::move(rendered.text), {}};
    for (const auto& span : rendered.spans) prompt.spans.push_back({span.begin, span.end, PromptSpan::Kind(span.kind)});
    return prompt;
  });
}

std::vector<std::string> ChatTemplate::lint() const {
  return guarded([&] { return state_->compiled.lint(); });
}

Chat::Chat(const Model& model, std::string_view system) : Chat(model, system, {}) {}

Chat::Chat(const Model& model, std::string_view system, std::string tools, std::string variables) {
  guarded([&] {
    if (model.info().chat_template.empty())
      throw Error(Errc::unsupported, "this model's file has no chat template", Fault::missing_key,
                  "tokenizer.chat_template");
    state_ = std::make_unique<ChatState>(ChatState{model.state_, ChatTemplate(model.info().chat_template),
                                                   model.session(), std::make_shared<std::vector<Message>>(),
                                                   std::move(tools), std::move(variables)});
    if (!system.empty()) state_->messages->push_back({"system", std::string(system)});
  });
}

Generation Chat::say(std::string_view text, const Sampler& sampler, Limits limits) & {
  return guarded([&] {
    state_->messages->push_back({"user", std::string(text)});
    try {
      return answer(sampler, std::move(limits));
    } catch (...) {
      state_->messages->pop_back();
      throw;
    }
  });
}

Generation Chat::answer(const Sampler& sampler, Limits limits) & {
  return guarded([&] {
    auto& chat = *state_;
    const auto& tokenizer = *chat.model->tokenizer;
    const auto prompt = chat.chat.render({.messages = as_json(*chat.messages),
                                          .tools = chat.tools,
                                          .variables = chat.variables,
                                          .bos_token = token_text(tokenizer, tokenizer.bos()),
                                          .eos_token = token_text(tokenizer, tokenizer.eos())});
    const auto tokens = tokens_of(prompt, tokenizer);
    const auto read = chat.session.tokens();
    const auto same =
        std::size_t(std::mismatch(read.begin(), read.end(), tokens.begin(), tokens.end()).first - read.begin());
    const auto kept = std::min(same, tokens.size() - 1);  // at least the last token is read, for its logits
    chat.session.rewind(kept);
    auto reply = chat.session.generate(std::span<const TokenId>(tokens).subspan(kept), sampler, std::move(limits));
    const auto turn = chat.messages->size();
    chat.messages->push_back({"assistant", {}});
    reply.state_->writer.stats.prompt_tokens = int(tokens.size()), reply.state_->writer.stats.reused_tokens = int(kept);
    reply.state_->writer.shown_to = [messages = chat.messages, turn](std::string_view text) {
      if (turn < messages->size()) (*messages)[turn].content += text;
    };
    return reply;
  });
}

std::span<const Message> Chat::messages() const noexcept { return *state_->messages; }
void Chat::add(Message message) {
  guarded([&] { state_->messages->push_back(std::move(message)); });
}

void Chat::edit(std::size_t turn, std::string_view text) {
  guarded([&] {
    auto& messages = *state_->messages;
    if (turn >= messages.size())
      throw Error(Errc::argument,
                  "there is no turn " + std::to_string(turn) + ": the chat has " + std::to_string(messages.size()),
                  Fault::out_of_bounds, "turn");
    messages[turn].content = text;
    messages.resize(turn + 1);
  });
}

Session& Chat::session() noexcept { return state_->session; }
Chat::Chat(Chat&&) noexcept = default;
Chat& Chat::operator=(Chat&&) noexcept = default;
Chat::~Chat() = default;

}  // namespace v0
}  // namespace inlay

// Conversations in turns, through the model's own chat template.
#pragma once

#include "inlay/model.hpp"

namespace inlay {
inline namespace v0 {

struct Message {
  std::string role, content;
  std::string fields = {};  ///< what else the template may see of it, as a JSON object: tool_calls, name, ...
};

/// A part of a rendered prompt and whose words it holds. Only the template's own text may spell control tokens.
struct PromptSpan {
  enum class Kind { template_text, system, user, assistant, tool, other };
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  Kind kind = Kind::other;
};

struct Prompt {
  std::string text;
  std::vector<PromptSpan> spans;  ///< in order, without gaps
};

/// What a template renders, as JSON. Empty: the template does not see that variable.
struct RenderOptions {
  std::string messages = "[]";  ///< [{"role", "content", ...}]
  std::string tools = {};       ///< [{"type": "function", "function": {...}}]
  std::string documents = {};
  std::string variables = {};  ///< an object of further variables: enable_thinking, ...
  bool add_generation_prompt = true;
  std::string bos_token = {}, eos_token = {};
  std::optional<std::int64_t> now =
      {};  ///< seconds since 1970 UTC that the template's clock shows; none: it has no clock
};

/// A chat template: the Jinja program in a model file, run within fixed limits of steps, memory and output.
/// Immutable, cheap to copy, safe from any thread.
class INLAY_API ChatTemplate {
 public:
  /// Throws Error{format}, with where() as line:column, or Error{unsupported}.
  explicit ChatTemplate(std::string_view source);
  /// Throws Error{argument} for what the template itself refuses, Error{format} for what it does wrong.
  Prompt render(const RenderOptions&) const;
  /// One sentence for each thing in it that is likely to be a mistake.
  std::vector<std::string> lint() const;

 private:
  friend class Chat;
  std::shared_ptr<const struct TemplateState> state_;
};

/// A session that speaks in turns. What it says is remembered as it is shown, however its Generation ends. The
/// unchanged beginning of the conversation is never read again. Move-only; one thread at a time.
class INLAY_API Chat {
 public:
  /// Throws Error{unsupported} for a model whose file has no chat template.
  explicit Chat(const Model&, std::string_view system = {});
  /// `tools` as in RenderOptions; `variables` too.
  Chat(const Model&, std::string_view system, std::string tools, std::string variables = {});

  Generation say(std::string_view text, const Sampler& = {}, Limits = {}) &;
  Generation say(std::string_view, const Sampler& = {}, Limits = {}) && = delete;  // name the chat first
  /// Answers the messages as they stand (after edit(), or after add()).
  Generation answer(const Sampler& = {}, Limits = {}) &;

  std::span<const Message> messages() const noexcept;  ///< until the next call that changes the chat
  void add(Message);                                   ///< a turn from elsewhere, for example of the role "tool"
  void edit(std::size_t turn,
            std::string_view text);  ///< changes one turn and forgets those after it; Error{argument} if there is none
  Session& session() noexcept;

  Chat(Chat&&) noexcept;
  Chat& operator=(Chat&&) noexcept;
  ~Chat();

 private:
  std::unique_ptr<struct ChatState> state_;
};

}  // namespace v0
}  // namespace inlay

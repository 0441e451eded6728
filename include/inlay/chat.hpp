// Conversations in turns, through the model's own chat template.
#pragma once

#include "inlay/model.hpp"

namespace inlay {
inline namespace v0 {

/// A call of a tool, as a model wrote it.
struct ToolCall {
  std::string name;
  std::string arguments;  ///< a JSON object
  std::string id = {};    ///< nine letters and digits, by which its result is told
};

struct Message {
  std::string role, content;
  std::string fields = {};  ///< what else the template may see of it, as a JSON object: name, tool_call_id, ...
  std::string reasoning = {};
  std::vector<ToolCall> tool_calls = {};
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
  /// One sentence for each thing in it that is likely to be a mistake. `tokenizer_adds_bos`: whether a tokenizer would
  /// write the BOS token before any text.
  std::vector<std::string> lint(std::string_view bos_token = {}, bool tokenizer_adds_bos = false) const;

 private:
  friend struct ChatState;
  std::shared_ptr<const struct TemplateState> state_;
};

/// Whether a model thinks before it answers. usual: as its template does unless it is told otherwise.
enum class Reasoning { usual, on, off };

struct ChatOptions {
  std::string system = {};  ///< what the model is told before the first turn
  /// As in RenderOptions. The arguments of calls are held to their schemas, but for keywords that a grammar cannot
  /// express, which are ignored; in Gemma's notation also but for lengths of lists and values of no single type.
  std::string tools = {};
  std::string tool_choice = "auto";  ///< "auto"; "none"; "required": nothing but calls; or the name of the one tool
  std::string variables = {};        ///< as in RenderOptions
  Reasoning reasoning = Reasoning::usual;
  int reasoning_tokens = -1;             ///< then the reasoning is ended; -1: never
  std::optional<std::int64_t> now = {};  ///< as in RenderOptions; none: the time when the chat was made
  /// drop: whole turns are left out, the oldest first but never the system's words nor the last of the user, until half
  /// of the context is free. What stays is read again, so the model says what it would say had it never seen the
  /// others.
  WhenFull when_full = WhenFull::stop;
  const Model* draft = nullptr;  ///< as in SessionOptions
};

/// A piece of a reply. As a text it is what a reader is shown: empty, unless it is of the answer.
struct ReplyPart {
  enum class Kind {
    answer,
    reasoning,
    tool_name,             ///< a call begins
    tool_arguments,        ///< more of its arguments
    answer_was_reasoning,  ///< the parts of the answer so far belong to the reasoning: only its end was marked
  };
  Kind kind = Kind::answer;
  std::string_view text = {};  ///< until the next part is asked for
  operator std::string_view() const noexcept { return kind == Kind::answer ? text : std::string_view(); }
};

/// A turn of the model as it is written: a single-pass range of its parts. What was written is in Chat::messages() at
/// once, and stays there however the reply ends. Leaving the loop early is a cancel, as with a Generation.
class INLAY_API Reply {
 public:
  class INLAY_API iterator {
   public:
    using value_type = ReplyPart;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    const ReplyPart& operator*() const noexcept;
    const ReplyPart* operator->() const noexcept { return &**this; }
    iterator& operator++();  ///< throws Error{memory|device}; the session is then as before the step
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept { return i.done(); }

   private:
    friend Reply;
    bool done() const noexcept;
    std::shared_ptr<struct ReplyState> state_;
  };

  iterator begin() &;
  iterator begin() && = delete;  // name the reply first; a range-for does
  std::default_sentinel_t end() const noexcept { return {}; }

  std::string text();  ///< the rest of the answer, all at once
  Message message();   ///< the whole turn, when it has ended
  Finish finish() const noexcept;
  const Stats& stats() const& noexcept;
  const Stats& stats() && = delete;

  Reply(Reply&&) noexcept;
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

 private:
  friend class Chat;
  explicit Reply(std::shared_ptr<struct ReplyState>) noexcept;
  std::shared_ptr<struct ReplyState> state_;
};

/// A session that speaks in turns. The unchanged beginning of the conversation is never read again. Move-only; one
/// thread at a time. Sampler::grammar holds the answer, not the reasoning before it; a model that has tools may call
/// them instead. A template that refuses a system message gets it with the first turn of the user.
class INLAY_API Chat {
 public:
  /// Throws Error{unsupported} for a model whose file has no chat template.
  explicit Chat(const Model&, std::string_view system = {});
  /// Also throws Error{argument} for tools that are none, and for a tool_choice that is not among them.
  Chat(const Model&, ChatOptions);

  Reply say(std::string_view text, const Sampler& = {}, Limits = {}) &;
  Reply say(std::string_view, const Sampler& = {}, Limits = {}) && = delete;  // name the chat first
  /// Answers the messages as they stand (after edit(), or after add()).
  Reply answer(const Sampler& = {}, Limits = {}) &;

  /// As Session::ask().
  template <class T>
  Typed<T> ask(std::string_view text, Sampler sampler = {}, Limits limits = {},
               const std::function<void(const T&)>& partly = {}) & {
    sampler.grammar = Grammar::json_schema(schema_of<T>());
    return typed::collect<T>(say(text, sampler, std::move(limits)), partly);
  }

  std::span<const Message> messages() const noexcept;         ///< all, until the next call that changes the chat
  void add(Message);                                          ///< a turn from elsewhere
  void add_result(const ToolCall&, std::string_view result);  ///< what a tool gave
  void edit(std::size_t turn,
            std::string_view text);  ///< changes one turn and forgets those after it; Error{argument} if there is none
  Session& session() noexcept;

  Chat(Chat&&) noexcept;
  Chat& operator=(Chat&&) noexcept;
  ~Chat();

 private:
  std::shared_ptr<struct ChatState> state_;
};

}  // namespace v0
}  // namespace inlay

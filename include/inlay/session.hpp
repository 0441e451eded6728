// One conversation with a model, and the tokens it makes as a range.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/error.hpp"
#include "inlay/sampler.hpp"
#include "inlay/typed.hpp"

namespace inlay {
inline namespace v0 {

/// A token that might have been chosen, with the natural logarithm of its probability.
struct Alternative {
  TokenId id = -1;
  float logprob = 0;
};

/// One generated token. `text` is whole UTF-8 characters (so sometimes empty);
/// `text` and `alternatives` live until the next token is asked for.
struct Token {
  TokenId id = -1;
  std::string_view text = {};
  float logprob = 0;                               ///< under the model's own distribution, before any sampler step
  std::span<const Alternative> alternatives = {};  ///< the Limits::top_logprobs likeliest, best first
  operator std::string_view() const noexcept { return text; }
};

/// Why no more of a prompt was reused. not_asked: it is shorter than a page of the cache; whole: all of it is known,
/// and only its last page is read again; differs: what is known goes on with another token; unknown: nobody has read
/// on, or it was forgotten for want of memory; off: LoadOptions::reuse_prefixes, or an encoder-decoder, whose pages
/// serve one source; no_state: the model is recurrent, and its state is kept only where chunks of prompts ended.
enum class ReuseEnd { not_asked, whole, differs, unknown, off, no_state };

/// Whether tokens were guessed ahead and read together. no_state: not for this model, whose recurrent state cannot go
/// back.
enum class Speculation { off, on, no_state };

/// What a step of a Sampler left: its likeliest candidates, best first, with the logarithms of their probabilities.
struct SampledStep {
  std::string name;
  std::vector<Alternative> candidates = {};
};

struct Stats {
  int prompt_tokens = 0;  ///< tokens of the prompt, reused ones included
  int reused_tokens = 0;  ///< of those, found in the cache and not read again: whole pages
  int known_tokens = 0;   ///< of those, found in the cache at all; the next one is where the reuse ended
  ReuseEnd reuse_end = ReuseEnd::not_asked;
  int generated_tokens = 0;
  int dropped_tokens = 0;    ///< by WhenFull::drop
  int dropped_messages = 0;  ///< the same, of a Chat
  Speculation speculation = Speculation::off;
  int drafted_tokens = 0;   ///< guessed, and read beside the token before them
  int accepted_tokens = 0;  ///< of those, the ones the sampler chose too: each saved a step
  double prompt_seconds = 0, generate_seconds = 0;
};

/// What a generation does when the context is full. stop: it ends with Finish::context_full; drop: it goes on without
/// the oldest of what came after the beginning (SessionOptions, ChatOptions).
enum class WhenFull { stop, drop };

class Model;

/// How a session behaves.
struct SessionOptions {
  std::string salt = {};                ///< only sessions of the same salt share what they have read (tenants)
  WhenFull when_full = WhenFull::stop;  ///< drop: Error{unsupported} for models that Session::drop refuses
  /// Tokens at the beginning that are never dropped: a few, on which attention rests (Xiao et al. 2024), or a whole
  /// instruction.
  int keep = 4;
  /// How many of those after them are dropped at once; 0: half. A few: the context is a window that slides behind the
  /// kept tokens, for the price of rotating all keys as often.
  int drop = 0;
  /// Guess tokens ahead, where the text repeats itself or the grammar leaves no choice, and read them in one step.
  /// What is generated does not change; when guesses do not pay, there are no more of them.
  bool speculate = true;
  /// A smaller model that guesses, too, where the text and the grammar have no guess; kept alive by the session. Best
  /// of the same vocabulary. Null: none.
  const Model* draft = nullptr;
};

/// Tokens as they are made: a single-pass range. Each ++ runs the model once.
/// Leaving the loop early is a cancel; the session then ends at the last token seen.
/// Shares ownership of its session's state: it outlives the Session safely. When
/// the session is asked for something else meanwhile, it ends as cancelled. An
/// iterator shares it too, and may outlive the Generation.
class INLAY_API Generation {
 public:
  class INLAY_API iterator {
   public:
    using value_type = Token;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    const Token& operator*() const noexcept;
    const Token* operator->() const noexcept { return &**this; }
    iterator& operator++();  ///< throws Error{memory|device}; the session is then as before the step
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept { return i.done(); }

   private:
    friend Generation;
    bool done() const noexcept;
    std::shared_ptr<struct GenerationState> state_;
  };

  iterator begin() &;
  iterator begin() && = delete;  // name the generation first; a range-for does
  std::default_sentinel_t end() const noexcept { return {}; }

  std::string text();                     ///< the rest, all at once
  std::size_t text_end() const noexcept;  ///< bytes of text shown so far (a stop text is never shown)
  Finish finish() const noexcept;
  const Stats& stats() const& noexcept;
  const Stats& stats() && = delete;

  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;
  ~Generation();

 private:
  friend class Session;
  friend class Chat;
  explicit Generation(std::shared_ptr<struct GenerationState>) noexcept;
  std::shared_ptr<struct GenerationState> state_;
};

/// An answer as a value of a described type (typed.hpp).
template <class T>
struct Typed {
  T value = {};        ///< where the answer was cut short, what there was of it
  bool whole = false;  ///< false: `finish` says what cut it short
  Finish finish = Finish::running;
  std::string text = {};  ///< the JSON
  Stats stats = {};
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace typed {

// Reads what is written, and shows it as it grows.
template <class T, class Writing>
Typed<T> collect(Writing writing, const std::function<void(const T&)>& partly) {
  Typed<T> answer;
  for (std::string_view text : writing) {
    if (text.empty()) continue;
    answer.text += text;
    if (partly) partly(from_json<T>(answer.text));
  }
  answer.finish = writing.finish(), answer.stats = writing.stats();
  answer.whole = answer.finish == Finish::constraint_done || answer.finish == Finish::end_of_text;
  answer.value = from_json<T>(answer.whole ? answer.text + '\n' : answer.text);
  return answer;
}

}  // namespace typed

/// One conversation with a model: the tokens so far and their cached attention.
/// Move-only; use from one thread at a time. Keeps its model alive. What it has read
/// serves other sessions that begin alike, while memory allows. A prompt is
/// text: control tokens spelled in it stay text unless Limits::parse_specials;
/// BOS is added where the file asks for it and the session is empty. Arguments
/// are copied before a call returns; a Generation shares the session's state.
class INLAY_API Session {
 public:
  /// Reads `prompt`, then generates. For an encoder-decoder (T5) the prompt is the source, and the session begins anew
  /// with it; an empty one goes on with the source there is. Throws Error{argument} if the prompt cannot fit;
  /// Error{device} or Error{memory} from any step. After a cancel or deadline while the prompt is read, the Generation
  /// is finished and the session as before.
  Generation generate(std::string_view prompt, const Sampler& = {}, Limits = {}) &;
  Generation generate(std::span<const TokenId> prompt, const Sampler& = {}, Limits = {}) &;
  Generation generate(std::string_view, const Sampler& = {}, Limits = {}) && = delete;  // name the session first
  Generation generate(std::span<const TokenId>, const Sampler& = {}, Limits = {}) && = delete;

  /// Asks for a value of a described type (typed.hpp): the answer is JSON under its schema. `partly` sees the value
  /// grow.
  template <class T>
  Typed<T> ask(std::string_view prompt, Sampler sampler = {}, Limits limits = {},
               const std::function<void(const T&)>& partly = {}) & {
    sampler.grammar = Grammar::json_schema(schema_of<T>());
    return typed::collect<T>(generate(prompt, sampler, std::move(limits)), partly);
  }

  /// Lets the encoder of an encoder-decoder read `tokens`, whole; the session begins anew, and what it evaluates or
  /// scores from now on is written in view of them. Forks share the source, and rewind() keeps it. Throws
  /// Error{argument} for other models, and for more tokens than the context.
  void read_source(std::span<const TokenId> tokens);

  /// Appends tokens and returns their logits, row-major [wanted, vocabulary]; all that models of text diffusion can do.
  /// `wanted` counts from the first of `tokens`; empty: the last one. Throws Error{argument} for what is out of range.
  std::vector<float> evaluate(std::span<const TokenId> tokens, std::span<const int> wanted = {});
  /// Natural log-probability of the text after what was read; the session is left as it was.
  double score(std::string_view text);

  /// How the next token would be chosen: the model's own distribution as "model", then what each step of the sampler
  /// leaves, under its name, the `top` likeliest of each. The session is left as it was.
  std::vector<SampledStep> explain(const Sampler&, int top = 20);

  std::span<const TokenId> tokens() const& noexcept;  ///< until the next call that changes the session
  std::span<const TokenId> tokens() && = delete;
  std::size_t room() const noexcept;  ///< tokens the context can still take
  void rewind(std::size_t length);    ///< forget all but the first `length` tokens; Error{argument} if there are fewer
  /// Forgets `count` tokens from `first` on, and moves those after them: their keys are rotated to the new positions.
  /// The rest was read with the dropped tokens in view, so what follows is near to, but not, what a session without
  /// them would say. Throws Error{unsupported} for models with recurrent states, latent caches, chunked attention or
  /// learned positions, Error{memory}.
  void drop(std::size_t first, std::size_t count);
  /// Writes the tokens and what the model keeps of them, for Model::restore. A file is replaced in one move: a failure,
  /// or an end of the process, leaves the old one or the new one. Throws Error{io}.
  void save(std::string_view path) const;
  std::vector<std::byte> save() const;
  Session fork() const;  ///< the same past, another future; pages are shared until written

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

 private:
  friend class Batch;
  friend class Model;
  explicit Session(std::shared_ptr<struct SessionState>) noexcept;
  std::shared_ptr<struct SessionState> state_;
};

}  // namespace v0
}  // namespace inlay

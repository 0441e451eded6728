// Many sessions, one forward pass at a time.
#pragma once

#include "inlay/model.hpp"

namespace inlay {
inline namespace v0 {

/// A request's place among others in a Batch. Those of a higher priority go first; whoever waits long rises. Where
/// memory or places are short, a running request of lower priority falls back to its tokens and reads them again later.
struct Standing {
  int priority = 0;
  std::uint64_t tenant = 0;  ///< whose request it is, for Batch::Options::sessions_per_tenant
};

/// Continuous batching: requests join and leave between any two steps, and a step serves all of them in one forward
/// pass. Prompts are read in pieces beside requests that are writing, so that nobody waits for a long prompt, and what
/// several requests of one salt begin with is read once. Sources of encoder-decoders are read whole, one before a step.
/// A request says exactly what its session would say alone, whatever is beside it; it guesses while nothing is.
///
///   inlay::Batch batch(model);
///   for (auto& session : sessions) batch.submit(session, "Write a haiku.");
///   for (const auto& event : batch) std::cout << event.id << ": " << event.token.text << '\n';
///
/// The loop runs on the thread that iterates, one at a time; submit(), cancel() and close() may be called from any
/// thread meanwhile. Where a core is left, the next step runs on a thread of the batch's while events are handed out:
/// whoever joins then waits for it. A session belongs to the batch from submit() to its last event: only the thread
/// that iterates may use it before, after that step, and changing it ends the request as cancelled. Destroying the
/// batch and its iterators ends its requests where they are.
class INLAY_API Batch {
 public:
  using Id = std::uint64_t;

  struct Options {
    int tokens_per_step = 512;    ///< read and written in one forward pass, all requests together
    int sessions_at_once = 64;    ///< the others wait; each takes a row of logits or two beside Model::plan()'s scratch
    int sessions_per_tenant = 0;  ///< of those at once; 0: as many as there are
    /// A step that reads prompts beside requests that write takes at most about so many times as long as one that only
    /// writes, as measured; 0: as long as tokens_per_step takes.
    double steps_of_delay = 3;
    bool keep_open = false;  ///< when all work is done, wait for more until close() instead of ending the range
  };

  struct Event {
    Id id = 0;
    Token token = {};        ///< its text lives until the next event; id -1: the request ended without another token
    Finish finish = {};      ///< running, or why this is its last event
    std::string error = {};  ///< not empty: the request failed, with `finish` cancelled; the others go on
    Stats stats = {};        ///< so far; prompt_seconds count from submit(), waiting included
  };

  /// Throws Error{argument} for an option out of its range and for an encoder.
  explicit Batch(const Model&);
  Batch(const Model&, const Options&);

  /// Takes a session of the same model with a prompt as in Session::generate(); Limits::cancel and deadline are seen
  /// between steps, and between layers where nobody wants the step. Throws Error{argument} if the prompt cannot fit,
  /// the session is in the batch already, or the batch is closed; the session is then as before.
  Id submit(Session&, std::string_view prompt, const Sampler& = {}, Limits = {}, Standing = {});
  Id submit(Session&, std::span<const TokenId> prompt, const Sampler& = {}, Limits = {}, Standing = {});
  /// Ends a request before its next token; nothing happens if there is none. A session whose prompt was not read to its
  /// end is then as before submit().
  void cancel(Id);
  void close();  ///< no more requests: the range ends when the work is done

  class iterator;
  iterator begin() &;  ///< goes to the next event
  iterator begin() && = delete;
  std::default_sentinel_t end() const noexcept { return {}; }

  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

 private:
  std::shared_ptr<struct BatchState> state_;
};

class INLAY_API Batch::iterator {
 public:
  using value_type = Event;
  using difference_type = std::ptrdiff_t;
  iterator() = default;
  const Event& operator*() const noexcept;
  const Event* operator->() const noexcept { return &**this; }
  iterator& operator++();  ///< runs steps until there is an event; throws Error{memory} for what is not one request's
  void operator++(int) { ++*this; }
  friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept { return i.done(); }

 private:
  friend Batch;
  bool done() const noexcept;
  std::shared_ptr<BatchState> state_;
};

}  // namespace v0
}  // namespace inlay

// The loop of a batch: what is submitted from any thread, and the steps that serve it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>

#include "api/drafts.hpp"
#include "base/aside.hpp"
#include "inlay/batch.hpp"
#include "runtime/pace.hpp"
#include "runtime/scheduler.hpp"

namespace inlay {
inline namespace v0 {

struct BatchRequest {
  BatchRequest(std::shared_ptr<SessionState> s, const Sampler& sampler, Limits limits)
      : writer(s->model, sampler, std::move(limits)), session(std::move(s)), drafts(*session, writer) {}

  runtime::Sequence& sequence() const noexcept { return session->sequence; }
  std::size_t unread() const noexcept { return sequence().tokens.size() - sequence().cached; }
  bool owns_session() const noexcept { return session->asked == asked; }  // else it was asked for something else
  bool unwanted() const { return cancelled || writer.interrupted().has_value(); }
  std::size_t source_tokens() const noexcept {
    return sequence().source && source.empty() ? sequence().source->tokens.size() : source.size();
  }
  void begin(std::span<const TokenId> prompt);  // throws Error{argument}
  void leave_session() noexcept;                // where its prompt was not read, as it found it
  void stop_guessing() noexcept;
  void describe() {
    if (!rest.empty()) writer.describe(std::exchange(rest, {}));
  }

  Batch::Id id = 0;
  Standing standing;
  Writer writer;
  std::shared_ptr<SessionState> session;
  Drafts drafts;                            // for when it is alone
  std::optional<Rollback> rollback;         // until the prompt is read
  std::vector<TokenId> source = {};         // of an encoder-decoder, that has to be read first
  std::uint64_t asked = 0;                  // by this request
  std::size_t before = 0, most = 0;         // tokens of the session without the prompt, and in the end
  std::uint64_t arrival = 0;                // steps that were done when it came
  bool running = false, admitted = false;   // now, so that it may hold pages; at least once
  bool prompt_read = false, wrote = false;  // wrote: its event has a token
  bool guesses = false;                     // its last step was its own
  std::span<const float> rest = {};         // logits that its token is yet to be described from
  std::string error;
  std::atomic<bool> cancelled{false};
};

struct BatchState {
  BatchState(std::shared_ptr<const ModelState> model, const Batch::Options& options);
  ~BatchState();

  // From any thread.
  void refuse_twice(const SessionState& session);
  Batch::Id submit(const std::shared_ptr<SessionState>& session, std::span<const TokenId> prompt,
                   const Sampler& sampler, Limits limits, Standing standing);
  void cancel(Batch::Id id);
  void close();

  // From the one thread that iterates.
  void advance();  // to the next event, or `over`
  Batch::Event event;
  bool over = false;

  // For tests: whether steps are begun beside what is told of the last one, wherever they can be.
  void go_ahead(bool always);

 private:
  // A token of a step that is being written.
  struct Choice {
    BatchRequest* request;
    std::span<const float> logits;
    std::exception_ptr failure = {};
  };

  // Each that runs can write in every step.
  std::size_t most_places() const noexcept {
    return std::size_t(std::min(options_.sessions_at_once, options_.tokens_per_step));
  }
  void refuse_closed() const;  // with the mutex held
  bool gather();
  void end_interrupted();
  void end(BatchRequest& request, Finish finish, std::string error = {});
  void end_quietly(BatchRequest& request, Finish finish, std::string error);
  void show(BatchRequest& request);

  BatchRequest* search(Batch::Id id) const;  // null where it is not of the round
  BatchRequest& find(Batch::Id id) const { return *search(id); }
  runtime::Request view_of(const BatchRequest& request) const;
  runtime::Schedule plan();
  void admit(BatchRequest& request);
  void preempt(BatchRequest& request);
  void step();
  bool read_ahead(BatchRequest& request);
  bool read_source(std::pmr::vector<runtime::Schedule::Part>& parts);
  void list(std::span<const runtime::Schedule::Part> parts);
  bool unwanted() const;
  bool read(std::span<const runtime::Schedule::Part> parts);
  void recover(const Error& error, std::span<const runtime::Schedule::Part> parts);
  void take(std::span<const runtime::Schedule::Part> parts);
  void report_progress(BatchRequest& request) const;
  void write();
  template <class Make>
  void make_all(const Make& make);
  void tell(const Choice& choice);

  // A step that is begun before the last one is told.
  bool may_go_ahead() const;
  bool begin_ahead() noexcept;
  bool plan_ahead();
  void read_beside() noexcept;
  void land() noexcept;
  bool take_ahead();

  std::shared_ptr<const ModelState> model_;
  const Batch::Options options_;

  std::mutex mutex_;  // of the six below
  std::condition_variable changed_;
  std::pmr::vector<base::Owned<BatchRequest>> requests_;
  Batch::Id last_id_ = 0;
  std::uint64_t rounds_ = 0;
  bool closed_ = false;

  std::pmr::vector<BatchRequest*> live_, events_;  // of the round, by id; events not shown yet, the next one last
  base::Owned<BatchRequest> ended_;                // whose last event is shown
  std::pmr::vector<runtime::Request> views_;
  std::byte plan_bytes_[16 << 10];
  std::pmr::monotonic_buffer_resource plan_memory_;  // of one step's schedule
  runtime::Pace pace_;
  std::size_t places_;                           // fewer than sessions_at_once after memory ran out
  std::pmr::vector<runtime::Reading> readings_;  // of the step, as the three below
  std::pmr::vector<BatchRequest*> served_;
  std::pmr::vector<int> last_rows_;
  std::pmr::vector<Writer*> with_grammar_;
  runtime::Engine::Rows logits_;
  std::pmr::vector<Choice> choices_;
  base::Owned<base::Aside> aside_;  // where a core is left beside those of a step

  enum class Ahead { none, begun, landed } ahead_ = Ahead::none;
  std::size_t least_rest_ = std::size_t(1) << 16;  // logits whose description is worth waking a thread
  std::pmr::vector<runtime::Schedule::Part> ahead_parts_;
  runtime::Engine::Rows ahead_logits_;
  bool ahead_failed_ = false;
  double ahead_seconds_ = 0;
};

}  // namespace v0
}  // namespace inlay

// Requests of many sessions through one forward pass after the other.
#include "api/batch.hpp"

#include <algorithm>
#include <system_error>

#include "api/guarded.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;
namespace {

const Batch::Options& checked(const Batch::Options& options) {
  const auto refuse = [](const char* field, const char* why) {
    throw Error(Errc::argument, std::string("Batch::Options::") + field + " " + why, Fault::bad_value, field);
  };
  if (options.tokens_per_step < 1) refuse("tokens_per_step", "must be at least 1");
  if (options.sessions_at_once < 1) refuse("sessions_at_once", "must be at least 1");
  if (options.sessions_per_tenant < 0) refuse("sessions_per_tenant", "must not be negative");
  if (!(options.steps_of_delay >= 0)) refuse("steps_of_delay", "must not be negative");
  return options;
}

}  // namespace

BatchState::BatchState(std::shared_ptr<const ModelState> model, const Batch::Options& options)
    : model_(std::move(model)),
      options_(checked(options)),
      requests_(model_->memory),
      live_(model_->memory),
      events_(model_->memory),
      views_(model_->memory),
      plan_memory_(plan_bytes_, sizeof(plan_bytes_), model_->memory),
      pace_(options_.steps_of_delay, model_->memory),
      places_(most_places()),
      readings_(model_->memory),
      served_(model_->memory),
      last_rows_(model_->memory),
      with_grammar_(model_->memory),
      logits_(model_->memory),
      choices_(model_->memory),
      ahead_parts_(model_->memory),
      ahead_logits_(model_->memory) {
  if (model_->engine->spare_cores() > 0) try {
      aside_ = base::make<base::Aside>(model_->memory);
    } catch (const std::system_error&) {  // no thread is to be had: it goes without
    }
}

BatchState::~BatchState() {
  for (const auto& request : requests_) request->cancelled = true;
  land();
  for (const auto& request : requests_) request->leave_session();
}

void BatchRequest::begin(std::span<const TokenId> prompt) {
  if (!session->engine().reads_source()) {
    session->append(prompt);
  } else if (prompt.empty()) {
    session->require_source();
  } else {
    session->check_source(prompt);
    source.assign(prompt.begin(), prompt.end());
    rollback->begin_anew(runtime::Sequence::of(sequence().salt, session->memory()));
    before = 0;
  }
  if (session->engine().reads_source()) session->begin_writing();
  const auto& tokens = sequence().tokens;
  if (tokens.empty()) throw Error(Errc::argument, "there is nothing to read: the prompt and the session are empty");
  session->engine().read_again(sequence(), tokens.size() - 1);
}

void BatchRequest::stop_guessing() noexcept {
  if (std::exchange(guesses, false) && owns_session()) drafts.forget();
}

void BatchRequest::leave_session() noexcept {
  stop_guessing();
  if (rollback && (prompt_read || !owns_session())) rollback->keep();
  rollback.reset();
}

void BatchState::refuse_closed() const {
  if (closed_) throw Error(Errc::argument, "the batch is closed: it takes no more requests");
}

void BatchState::refuse_twice(const SessionState& session) {
  std::lock_guard guard(mutex_);
  refuse_closed();
  if (session.model != model_) throw Error(Errc::argument, "the session is of another model than the batch");
  for (const auto& request : requests_)
    if (request->session.get() == &session) throw Error(Errc::argument, "the session is in the batch already");
}

Batch::Id BatchState::submit(const std::shared_ptr<SessionState>& session, std::span<const TokenId> prompt,
                             const Sampler& sampler, Limits limits, Standing standing) {
  auto request = base::make<BatchRequest>(model_->memory, session, sampler, std::move(limits));
  request->rollback.emplace(*session);
  const auto& tokens = session->sequence.tokens;
  request->before = tokens.size();
  if (request->writer.admits(prompt)) request->begin(prompt);
  const auto added = request->writer.limits().tokens;
  const auto room = session->context() - tokens.size();
  request->most = tokens.size() + (added < 0 ? room : std::min(room, std::size_t(added)));
  request->standing = standing;
  request->writer.stats.prompt_tokens = int(prompt.size());
  request->asked = ++session->asked;
  std::lock_guard guard(mutex_);
  refuse_closed();  // by another thread meanwhile, so that nobody might see to it
  const auto id = request->id = last_id_ + 1;
  request->arrival = rounds_;
  requests_.push_back(std::move(request));
  changed_.notify_all();
  return last_id_ = id;
}

void BatchState::cancel(Batch::Id id) {
  std::lock_guard guard(mutex_);
  for (const auto& request : requests_)
    if (request->id == id) request->cancelled = true;
}

void BatchState::close() {
  std::lock_guard guard(mutex_);
  closed_ = true;
  changed_.notify_all();
}

// What there is to do; false at the end of it.
bool BatchState::gather() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [&] { return !requests_.empty() || !options_.keep_open || closed_; });
  ++rounds_;
  live_.clear();
  for (const auto& request : requests_) live_.push_back(request.get());
  return !live_.empty();
}

void BatchState::end_quietly(BatchRequest& request, Finish finish, std::string error) {
  request.writer.finish = finish;
  request.error = std::move(error);
  request.wrote = false;
  request.leave_session();
}

void BatchState::end(BatchRequest& request, Finish finish, std::string error) {
  end_quietly(request, finish, std::move(error));
  events_.push_back(&request);
}

void BatchState::end_interrupted() {
  for (auto* request : live_) {
    if (!request->owns_session() || request->cancelled)
      end(*request, Finish::cancelled);
    else if (request->writer.finish != Finish::running)
      end(*request, request->writer.finish);  // its prompt was not admitted
    else if (const auto why = request->writer.interrupted())
      end(*request, *why);
  }
}

void BatchState::advance() {
  ended_.reset();
  while (events_.empty()) {
    land();
    over = !gather();
    if (over) return;
    events_.reserve(live_.size());
    end_interrupted();
    if (events_.empty()) step();
    std::reverse(events_.begin(), events_.end());
  }
  auto& next = *events_.back();
  events_.pop_back();
  show(next);
}

void BatchState::show(BatchRequest& request) {
  try {
    request.describe();
  } catch (const std::exception& error) {  // no memory for its text: the others go on
    land();
    end_quietly(request, Finish::cancelled, error.what());
  }
  const auto& writer = request.writer;
  event = {request.id, request.wrote ? writer.token : Token{}, writer.finish, request.error, writer.stats};
  if (writer.finish == Finish::running) return;
  std::lock_guard guard(mutex_);
  const auto at = std::find_if(requests_.begin(), requests_.end(), [&](const auto& r) { return r.get() == &request; });
  ended_ = std::move(*at);
  requests_.erase(at);
}

Batch::Batch(const Model& model) : Batch(model, Options{}) {}
Batch::Batch(const Model& model, const Options& options) {
  guarded([&] {
    model.session().state_->require_causal();  // session() refuses the others that cannot generate
    state_ = base::make_shared<BatchState>(model.state_->memory, model.state_, options);
  });
}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

Batch::Id Batch::submit(Session& session, std::string_view prompt, const Sampler& sampler, Limits limits,
                        Standing standing) {
  return guarded([&] {
    state_->refuse_twice(*session.state_);
    const auto tokens = session.state_->encode_prompt(prompt, limits.parse_specials);
    return state_->submit(session.state_, tokens, sampler, std::move(limits), standing);
  });
}

Batch::Id Batch::submit(Session& session, std::span<const TokenId> prompt, const Sampler& sampler, Limits limits,
                        Standing standing) {
  return guarded([&] {
    state_->refuse_twice(*session.state_);
    return state_->submit(session.state_, prompt, sampler, std::move(limits), standing);
  });
}

void Batch::cancel(Id id) { state_->cancel(id); }
void Batch::close() { state_->close(); }

Batch::iterator Batch::begin() & {
  iterator i;
  i.state_ = state_;
  return ++i;
}

Batch::iterator& Batch::iterator::operator++() {
  guarded([&] { state_->advance(); });
  return *this;
}

const Batch::Event& Batch::iterator::operator*() const noexcept { return state_->event; }
bool Batch::iterator::done() const noexcept { return state_->over; }

}  // namespace v0
}  // namespace inlay

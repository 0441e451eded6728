// One step of a batch: planned, and run.
#include <algorithm>

#include "api/batch.hpp"

namespace inlay {
inline namespace v0 {

using Part = runtime::Schedule::Part;

namespace {

// While it lives, another thread finds out which tokens the grammars allow next: that needs no logits.
class PrepareGrammars {
 public:
  PrepareGrammars(base::Aside* aside, std::span<Writer* const> writers) : aside_(aside), writers_(writers) {
    if (!writers_.empty())
      aside_->start([this] {
        for (auto* writer : writers_) writer->prepare();
      });
  }
  ~PrepareGrammars() {
    if (!writers_.empty()) aside_->wait();
  }
  PrepareGrammars(const PrepareGrammars&) = delete;
  PrepareGrammars& operator=(const PrepareGrammars&) = delete;

 private:
  base::Aside* aside_;
  std::span<Writer* const> writers_;
};

}  // namespace

BatchRequest* BatchState::search(Batch::Id id) const {
  const auto earlier = [](const BatchRequest* request, Batch::Id than) { return request->id < than; };
  const auto found = std::lower_bound(live_.begin(), live_.end(), id, earlier);
  return found != live_.end() && (*found)->id == id ? *found : nullptr;
}

runtime::Request BatchState::view_of(const BatchRequest& request) const {
  auto& engine = *model_->engine;
  const auto& sequence = request.sequence();
  runtime::Request view{.id = request.id,
                        .priority = request.standing.priority,
                        .tenant = request.standing.tenant,
                        .tokens = sequence.tokens,
                        .cached = sequence.cached,
                        .most = request.most,
                        .source = request.source_tokens(),
                        .pages = 0,
                        .arrival = request.arrival,
                        .running = request.running};
  if (engine.shares(sequence)) view.salt = sequence.salt;
  if (request.running) {
    view.releasable = engine.releasable(sequence), view.pages = sequence.pages.size();
  } else {
    const auto known = engine.known(sequence, sequence.tokens.size() - 1);
    view.cached = known.tokens, view.pages = known.held;
  }
  if (sequence.source) view.pages += sequence.source->pages.size();
  return view;
}

runtime::Schedule BatchState::plan() {
  views_.clear();
  std::size_t writing = 0, deepest = 0;
  for (const auto* request : live_) {
    views_.push_back(view_of(*request));
    if (request->running && request->unread() == 1 && request->source.empty())
      ++writing;
    else
      deepest = std::max(deepest, views_.back().cached);
  }
  auto& engine = *model_->engine;
  const bool waits = std::any_of(views_.begin(), views_.end(), [](const auto& view) { return !view.running; });
  const auto free = waits ? engine.room() : runtime::Engine::Room{};  // which takes a look at the whole cache
  runtime::ScheduleRules rules{.tokens_per_step = std::size_t(options_.tokens_per_step),
                               .sessions_at_once = places_,
                               .page = std::size_t(engine.page()),
                               .keeps_states = engine.keeps_states()};
  if (options_.sessions_per_tenant > 0) rules.sessions_per_tenant = std::size_t(options_.sessions_per_tenant);
  runtime::ScheduleRoom room{.pages = free.pages, .slots = free.slots};
  if (options_.steps_of_delay > 0) room.prompt_tokens = pace_.prompt_tokens(writing, deepest);
  plan_memory_.release();
  return runtime::schedule(views_, rules, room, &plan_memory_);
}

// Takes over what others have read of the same beginning.
void BatchState::admit(BatchRequest& request) {
  const auto reuse = model_->engine->reuse(request.sequence(), request.sequence().tokens.size() - 1);
  request.running = true;
  if (!std::exchange(request.admitted, true)) request.writer.reused(reuse, request.before);
}

void BatchState::preempt(BatchRequest& request) {
  request.running = false;
  model_->engine->read_again(request.sequence(), 0);
}

void BatchState::step() {
  if (take_ahead()) return;
  if (live_.size() == 1 && read_ahead(*live_.front())) return;
  for (auto* request : live_) request->stop_guessing();
  auto chosen = plan();
  for (const auto id : chosen.preempted) preempt(find(id));
  for (const auto id : chosen.admitted) admit(find(id));
  if (!read_source(chosen.parts)) return;
  const auto start = std::chrono::steady_clock::now();
  std::size_t writing = 0, prompt = 0, deepest = 0;
  for (auto& part : chosen.parts) {
    const auto& request = find(part.id);
    const auto unread = request.unread();
    part.tokens = int(std::min(std::size_t(part.tokens), unread));  // sessions beside the batch may have read more
    if (unread == 1) {
      ++writing;
    } else {
      prompt += std::size_t(part.tokens);
      deepest = std::max(deepest, request.sequence().cached);
    }
  }
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  if (!read(chosen.parts)) return;
  if (live_.size() == 1 && prompt == 0) live_.front()->session->drafts.plain_step(seconds());
  take(chosen.parts);
  pace_.observe(writing, prompt, deepest, seconds());
  places_ = std::min(places_ + 1, most_places());
}

// The source of one request, before its first token; requests whose sources are still to be read wait for their turns.
// False where it failed, as below.
bool BatchState::read_source(std::pmr::vector<Part>& parts) {
  const auto waits = [&](const Part& part) { return !find(part.id).source.empty(); };
  const auto first = std::find_if(parts.begin(), parts.end(), waits);
  if (first == parts.end()) return true;
  auto& request = find(first->id);
  try {
    const auto unwanted = [&] { return request.unwanted(); };
    request.sequence().source = model_->engine->read_source(request.source, nullptr, unwanted);
  } catch (const Error& error) {
    recover(error, {&*first, 1});
    return false;
  }
  request.source.clear();
  std::erase_if(parts, waits);
  return true;
}

// What the next forward pass reads, and for whom.
void BatchState::list(std::span<const Part> parts) {
  readings_.clear(), served_.clear(), last_rows_.clear(), with_grammar_.clear();
  last_rows_.reserve(parts.size());  // readings point to them
  std::size_t tokens = 0;
  for (const auto& part : parts) {
    auto& request = find(part.id);
    tokens += std::size_t(part.tokens);
    model_->engine->wake(request.sequence());
    last_rows_.push_back(part.tokens - 1);
    const bool whole = std::size_t(part.tokens) == request.unread();
    readings_.push_back({&request.sequence(), part.tokens, std::span(last_rows_).last(whole ? 1 : 0)});
    served_.push_back(&request);
    if (aside_ && request.writer.has_grammar()) with_grammar_.push_back(&request.writer);
  }
  // Texts that began together need their next pages together.
  const auto filled = tokens / std::size_t(model_->engine->page());
  if (parts.size() > 1) model_->engine->warm(parts.size() + filled, 1 + filled);
}

// A step goes on while anybody wants it.
bool BatchState::unwanted() const {
  return std::ranges::all_of(served_, [](const BatchRequest* request) { return request->unwanted(); });
}

// The forward pass. False where it failed, and what that means for its requests is done.
bool BatchState::read(std::span<const Part> parts) {
  try {
    list(parts);
    const PrepareGrammars beside(aside_.get(), with_grammar_);
    model_->engine->read(readings_, logits_, [this] { return unwanted(); });
  } catch (const Error& error) {
    recover(error, parts);
    return false;
  }
  return true;
}

void BatchState::recover(const Error& error, std::span<const Part> parts) {
  if (error.code() == Errc::cancelled) return;  // each of them ends with the next step
  if (error.code() == Errc::memory) {
    for (auto& view : views_) view.running = find(view.id).running;
    if (const auto last = runtime::least_urgent(views_)) {
      preempt(find(*last));
      const auto running =
          std::count_if(live_.begin(), live_.end(), [](const BatchRequest* request) { return request->running; });
      places_ = std::max<std::size_t>(1, std::size_t(running));
      return;
    }
    const auto holder = std::find_if(live_.begin(), live_.end(), [](const BatchRequest* request) {
      return !request->running && request->sequence().cached > 0;
    });
    if (holder != live_.end()) return preempt(**holder);
  }
  for (const auto& part : parts) end(find(part.id), Finish::cancelled, error.what());
}

}  // namespace v0
}  // namespace inlay

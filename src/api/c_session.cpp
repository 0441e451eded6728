// The C door to sessions and their generations.
#include "api/c_api.hpp"

namespace inlay::api {

namespace {

Guard guard_of(const inlay_guard* given) {
  const auto c = versioned<inlay_guard>(given, INLAY_GUARD_INIT);
  const auto hook = [&c](inlay_verdict (*asked)(void*, inlay_text)) -> std::function<Verdict(std::string_view)> {
    if (!asked) return {};
    return [asked, user = c.user](std::string_view seen) { return static_cast<Verdict>(asked(user, text(seen))); };
  };
  return {hook(c.on_prompt), hook(c.on_text), hook(c.on_finish), c.window};
}

}  // namespace

Limits limits_of(const inlay_limits* given) {
  const auto c = versioned<inlay_limits>(given, INLAY_LIMITS_INIT);
  Limits limits{.tokens = c.tokens,
                .deadline = std::chrono::milliseconds(c.deadline_ms),
                .top_logprobs = c.top_logprobs,
                .parse_specials = c.parse_specials != 0,
                .ignore_end = c.ignore_end != 0};
  for (const auto stop : list(c.stop, c.stop_count, "stop")) limits.stop.emplace_back(view(stop));
  if (c.cancel) limits.cancel = c.cancel->source.get_token();
  if (c.progress) limits.progress = [c](int done, int of) { c.progress(c.user, done, of); };
  limits.guard = guard_of(c.guard);
  return limits;
}

inlay_token token_of(const Token& token) {
  return {token.id, token.logprob, text(token.text), alternatives(token.alternatives), token.alternatives.size()};
}

}  // namespace inlay::api

using namespace inlay::api;

namespace {

// Generates from text or tokens.
template <class Prompt>
inlay_status start(inlay_session* session, Prompt prompt, const inlay_sampler* sampler, const inlay_limits* limits,
                   inlay_generation** out, inlay_error* error) noexcept {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    auto& owner = required(session, "session");
    auto generation = owner.session.generate(prompt(), sampler_of(sampler), limits_of(limits));
    *out = new inlay_generation{owner.memory, std::move(generation), {}, false};
    return INLAY_OK;
  });
}

inlay::SessionOptions options_of(const inlay_session_options* given) {
  const auto c = versioned<inlay_session_options>(given, INLAY_SESSION_OPTIONS_INIT);
  return {.salt = std::string(view(c.salt)),
          .when_full = static_cast<inlay::WhenFull>(c.when_full),
          .keep = c.keep,
          .drop = c.drop,
          .speculate = c.speculate != 0,
          .draft = c.draft ? &c.draft->model : nullptr};
}

inlay_session* handle_of(const inlay_model& model, inlay::Session session) {
  return new inlay_session{model.memory, std::size_t(model.model.info().vocabulary), std::move(session)};
}

}  // namespace

inlay_status inlay_session_new(const inlay_model* model, const inlay_session_options* options, inlay_session** out,
                               inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    *out = handle_of(required(model, "model"), model->model.session(options_of(options)));
    return INLAY_OK;
  });
}

inlay_status inlay_session_fork(const inlay_session* session, inlay_session** out, inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    *out = new inlay_session{required(session, "session").memory, session->vocabulary, session->session.fork()};
    return INLAY_OK;
  });
}

inlay_status inlay_session_tokens(const inlay_session* session, int32_t* tokens, size_t capacity, size_t* count,
                                  inlay_error* error) {
  return status_of(error,
                   [&] { return deliver(required(session, "session").session.tokens(), tokens, capacity, count); });
}

inlay_status inlay_session_room(const inlay_session* session, size_t* tokens, inlay_error* error) {
  return status_of(error, [&] {
    required(tokens, "tokens") = required(session, "session").session.room();
    return INLAY_OK;
  });
}

inlay_status inlay_session_rewind(inlay_session* session, size_t length, inlay_error* error) {
  return status_of(error, [&] {
    required(session, "session").session.rewind(length);
    return INLAY_OK;
  });
}

inlay_status inlay_session_drop(inlay_session* session, size_t first, size_t count, inlay_error* error) {
  return status_of(error, [&] {
    required(session, "session").session.drop(first, count);
    return INLAY_OK;
  });
}

inlay_status inlay_session_read_source(inlay_session* session, const int32_t* tokens, size_t n, inlay_error* error) {
  return status_of(error, [&] {
    required(session, "session").session.read_source(list(tokens, n, "tokens"));
    return INLAY_OK;
  });
}

inlay_status inlay_session_evaluate(inlay_session* session, const int32_t* tokens, size_t n, const int32_t* wanted,
                                    size_t wanted_count, float* logits, size_t capacity, inlay_error* error) {
  return status_of(error, [&] {
    auto& owner = required(session, "session");
    const auto rows = std::max<std::size_t>(wanted_count, 1);
    if (capacity / rows < owner.vocabulary) {  // before the session changes
      throw inlay::Error(inlay::Errc::argument, "there is room for " + std::to_string(capacity) + " logits, but " +
                                                    std::to_string(rows) + " rows of " +
                                                    std::to_string(owner.vocabulary) + " are wanted");
    }
    required(logits, "logits");
    const auto values = owner.session.evaluate(list(tokens, n, "tokens"), list(wanted, wanted_count, "wanted"));
    std::copy(values.begin(), values.end(), logits);
    return INLAY_OK;
  });
}

inlay_status inlay_session_score(inlay_session* session, inlay_text input, double* log_probability,
                                 inlay_error* error) {
  return status_of(error, [&] {
    required(log_probability, "log_probability") = required(session, "session").session.score(view(input));
    return INLAY_OK;
  });
}

inlay_status inlay_session_save(const inlay_session* session, inlay_text path, inlay_error* error) {
  return status_of(error, [&] {
    required(session, "session").session.save(view(path));
    return INLAY_OK;
  });
}

inlay_status inlay_session_save_memory(const inlay_session* session, void* bytes, size_t capacity, size_t* count,
                                       inlay_error* error) {
  return status_of(error, [&] {
    return deliver(required(session, "session").session.save(), static_cast<std::byte*>(bytes), capacity, count);
  });
}

inlay_status inlay_session_restore(const inlay_model* model, inlay_text path, const inlay_session_options* options,
                                   inlay_session** out, inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    *out = handle_of(required(model, "model"), model->model.restore(view(path), options_of(options)));
    return INLAY_OK;
  });
}

inlay_status inlay_session_restore_memory(const inlay_model* model, const void* saved, size_t bytes,
                                          const inlay_session_options* options, inlay_session** out,
                                          inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    const auto file = list(static_cast<const std::byte*>(saved), bytes, "saved");
    *out = handle_of(required(model, "model"), model->model.restore(file, options_of(options)));
    return INLAY_OK;
  });
}

void inlay_session_free(inlay_session* session) { delete session; }

inlay_status inlay_generate(inlay_session* session, inlay_text prompt, const inlay_sampler* sampler,
                            const inlay_limits* limits, inlay_generation** out, inlay_error* error) {
  return start(
      session, [&] { return view(prompt); }, sampler, limits, out, error);
}

inlay_status inlay_generate_tokens(inlay_session* session, const int32_t* prompt, size_t n,
                                   const inlay_sampler* sampler, const inlay_limits* limits, inlay_generation** out,
                                   inlay_error* error) {
  return start(
      session, [&] { return list(prompt, n, "prompt"); }, sampler, limits, out, error);
}

inlay_status inlay_next(inlay_generation* generation, inlay_token* out, inlay_error* error) {
  return status_of(error, [&] {
    auto& g = required(generation, "generation");
    if (g.started) {
      if (g.at != std::default_sentinel) ++g.at;
    } else {
      g.at = g.generation.begin();
      g.started = true;
    }
    if (g.at == std::default_sentinel) return INLAY_DONE;
    required(out, "out") = token_of(*g.at);
    return INLAY_OK;
  });
}

inlay_finish inlay_generation_finish(const inlay_generation* generation) {
  return generation ? static_cast<inlay_finish>(generation->generation.finish()) : INLAY_FINISH_CANCELLED;
}

inlay_stats inlay_generation_stats(const inlay_generation* generation) {
  return generation ? stats_of(generation->generation.stats()) : inlay_stats{};
}

size_t inlay_generation_text_end(const inlay_generation* generation) {
  return generation ? generation->generation.text_end() : 0;
}

void inlay_generation_free(inlay_generation* generation) { delete generation; }

inlay_status inlay_stop_new(inlay_stop** out, inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    *out = new inlay_stop;
    return INLAY_OK;
  });
}

void inlay_stop_request(inlay_stop* stop) {
  if (stop) stop->source.request_stop();
}

void inlay_stop_free(inlay_stop* stop) { delete stop; }

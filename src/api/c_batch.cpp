// The C door to batches.
#include "api/c_api.hpp"

using namespace inlay::api;

namespace {

// Submits text or tokens.
template <class Prompt>
inlay_status submit(inlay_batcher* batch, inlay_session* session, Prompt prompt, const inlay_sampler* sampler,
                    const inlay_limits* limits, inlay_standing standing, uint64_t* id, inlay_error* error) noexcept {
  return status_of(error, [&] {
    const auto given = required(batch, "batch")
                           .batch.submit(required(session, "session").session, prompt(), sampler_of(sampler),
                                         limits_of(limits), {standing.priority, standing.tenant});
    if (id) *id = given;
    return INLAY_OK;
  });
}

}  // namespace

inlay_status inlay_batch_new(const inlay_model* model, const inlay_batch_options* options, inlay_batcher** out,
                             inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    const auto& owner = required(model, "model");
    const auto c = versioned<inlay_batch_options>(options, INLAY_BATCH_OPTIONS_INIT);
    inlay::Batch batch(owner.model, {.tokens_per_step = c.tokens_per_step,
                                     .sessions_at_once = c.sessions_at_once,
                                     .sessions_per_tenant = c.sessions_per_tenant,
                                     .steps_of_delay = c.steps_of_delay,
                                     .keep_open = c.keep_open != 0});
    *out = new inlay_batcher{owner.memory, std::move(batch)};
    return INLAY_OK;
  });
}

inlay_status inlay_batch_submit(inlay_batcher* batch, inlay_session* session, inlay_text prompt,
                                const inlay_sampler* sampler, const inlay_limits* limits, inlay_standing standing,
                                uint64_t* id, inlay_error* error) {
  return submit(
      batch, session, [&] { return view(prompt); }, sampler, limits, standing, id, error);
}

inlay_status inlay_batch_submit_tokens(inlay_batcher* batch, inlay_session* session, const int32_t* prompt, size_t n,
                                       const inlay_sampler* sampler, const inlay_limits* limits,
                                       inlay_standing standing, uint64_t* id, inlay_error* error) {
  return submit(
      batch, session, [&] { return list(prompt, n, "prompt"); }, sampler, limits, standing, id, error);
}

inlay_status inlay_batch_cancel(inlay_batcher* batch, uint64_t id, inlay_error* error) {
  return status_of(error, [&] {
    required(batch, "batch").batch.cancel(id);
    return INLAY_OK;
  });
}

inlay_status inlay_batch_close(inlay_batcher* batch, inlay_error* error) {
  return status_of(error, [&] {
    required(batch, "batch").batch.close();
    return INLAY_OK;
  });
}

inlay_status inlay_batch_next(inlay_batcher* batch, inlay_event* out, inlay_error* error) {
  return status_of(error, [&] {
    auto& owner = required(batch, "batch");
    auto& to = required(out, "out");
    const auto at = owner.batch.begin();
    if (at == std::default_sentinel) return INLAY_DONE;
    const auto& event = *at;
    to = {event.id, token_of(event.token), static_cast<inlay_finish>(event.finish), text(event.error),
          stats_of(event.stats)};
    return INLAY_OK;
  });
}

void inlay_batch_free(inlay_batcher* batch) { delete batch; }

// What stands behind the door, for tests that set what an application cannot.
#pragma once

#include "api/batch.hpp"
#include "api/state.hpp"

namespace support {

// The private members of handles, which only explicit instantiations may name.
using StateOfModel = std::shared_ptr<const inlay::ModelState> inlay::Model::*;
using StateOfSession = std::shared_ptr<inlay::SessionState> inlay::Session::*;
using StateOfBatch = std::shared_ptr<inlay::BatchState> inlay::Batch::*;
StateOfModel state_of_model();
StateOfSession state_of_session();
StateOfBatch state_of_batch();
template <StateOfModel of_model, StateOfSession of_session, StateOfBatch of_batch>
struct Inside {
  friend StateOfModel state_of_model() { return of_model; }
  friend StateOfSession state_of_session() { return of_session; }
  friend StateOfBatch state_of_batch() { return of_batch; }
};
template struct Inside<&inlay::Model::state_, &inlay::Session::state_, &inlay::Batch::state_>;

inline const inlay::ModelState& inside(const inlay::Model& model) { return *(model.*state_of_model()); }
inline inlay::SessionState& inside(const inlay::Session& session) { return *(session.*state_of_session()); }
inline inlay::BatchState& inside(const inlay::Batch& batch) { return *(batch.*state_of_batch()); }

// Makes rows cheap as far as the model's sessions know, so that whether they guess is no matter of time, until many
// steps with guesses were measured.
inline void let_guesses_pay(const inlay::ModelState& model) {
  for (int i = 0; i < 9; ++i)
    for (int n = 1; n <= inlay::runtime::most_drafts; ++n)
      for (const bool of_model : {false, true}) model.draft_costs->add(of_model, n, 0);
}
inline void let_guesses_pay(const inlay::Model& model) { let_guesses_pay(inside(model)); }

// The same, and a plain step of the session takes a second for the next nine: what wrong guesses cost is no matter of
// time then, either.
inline void let_guesses_pay(const inlay::Model& model, const inlay::Session& session) {
  let_guesses_pay(model);
  for (int i = 0; i < 9; ++i) inside(session).drafts.plain_step(1);
}

}  // namespace support

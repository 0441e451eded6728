// What stands behind the door, for tests that set what an application cannot.
#pragma once

#include "api/state.hpp"

namespace support {

// The private members of handles, which only explicit instantiations may name.
using StateOfModel = std::shared_ptr<const inlay::ModelState> inlay::Model::*;
using StateOfSession = std::shared_ptr<inlay::SessionState> inlay::Session::*;
StateOfModel state_of_model();
StateOfSession state_of_session();
template <StateOfModel of_model, StateOfSession of_session>
struct Inside {
  friend StateOfModel state_of_model() { return of_model; }
  friend StateOfSession state_of_session() { return of_session; }
};
template struct Inside<&inlay::Model::state_, &inlay::Session::state_>;

inline const inlay::ModelState& inside(const inlay::Model& model) { return *(model.*state_of_model()); }
inline inlay::SessionState& inside(const inlay::Session& session) { return *(session.*state_of_session()); }

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

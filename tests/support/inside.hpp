// What stands behind the door, for tests that set what an application cannot.
#pragma once

#include "api/state.hpp"

namespace support {

// The private member of a handle, which only an explicit instantiation may name.
using StateOfModel = std::shared_ptr<const inlay::ModelState> inlay::Model::*;
StateOfModel state_of_model();
template <StateOfModel member>
struct Inside {
  friend StateOfModel state_of_model() { return member; }
};
template struct Inside<&inlay::Model::state_>;

inline const inlay::ModelState& inside(const inlay::Model& model) { return *(model.*state_of_model()); }

// Makes rows cheap as far as the model's sessions know, so that whether they guess is no matter of time, until many
// steps with guesses were measured.
inline void let_guesses_pay(const inlay::ModelState& model) {
  for (int i = 0; i < 9; ++i)
    for (int n = 1; n <= inlay::runtime::most_drafts; ++n)
      for (const bool of_model : {false, true}) model.draft_costs->add(of_model, n, 0);
}
inline void let_guesses_pay(const inlay::Model& model) { let_guesses_pay(inside(model)); }

}  // namespace support

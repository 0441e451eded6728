// A recipe told, and what its steps make of a distribution.
#include <random>

#include "api/guarded.hpp"
#include "api/state.hpp"
#include "inlay/session.hpp"
#include "runtime/elementary.hpp"
#include "runtime/sampling.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

std::vector<Alternative> leading(runtime::Candidates& candidates, int top) {
  const auto largest = candidates.largest(), total = runtime::logarithm(candidates.mass());
  std::vector<Alternative> best;
  for (const auto& [id, logit] : candidates.leading(std::size_t(top)))
    if (logit > -std::numeric_limits<float>::infinity()) best.push_back({id, float(double(logit) - largest - total)});
  return best;
}

std::vector<float> last_logits(SessionState& session) {
  const auto last = session.sequence.tokens.size() - 1;
  std::vector<float> logits;
  session.read({.wants = [&](std::size_t i) { return i == last; },
                .take = [&](std::size_t, std::span<const float> row) { logits.assign(row.begin(), row.end()); }});
  return logits;
}

}  // namespace

std::string Sampler::describe() const {
  return guarded([&] {
    runtime::check(*this);
    return runtime::describe(*this);
  });
}

std::vector<SampledStep> Session::explain(const Sampler& recipe, int top) {
  return guarded([&] {
    if (top < 1) throw Error(Errc::argument, "top must be at least 1", Fault::bad_value, "top");
    state_->require_causal();
    const auto& model = *state_->model;
    runtime::Sampling sampling(recipe, recipe.seed ? *recipe.seed : std::random_device()(), model.tokenizer.get());
    state_->ask();
    auto logits = last_logits(*state_);
    std::vector<SampledStep> steps;
    const auto watch = [&](std::string_view name, runtime::Candidates& candidates) {
      steps.push_back({std::string(name), leading(candidates, top)});
    };
    runtime::Candidates own;
    own.start(logits);
    watch("model", own);
    if (recipe.grammar) {
      runtime::Constraint(recipe.grammar, model.pieces()).apply(logits);
      own.start(logits);
      watch("grammar", own);
    }
    sampling.choose(logits, state_->sequence.tokens, watch);
    return steps;
  });
}

}  // namespace v0
}  // namespace inlay

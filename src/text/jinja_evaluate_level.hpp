// Counts how deep an evaluation stands in the host's own stack.
#pragma once

#include "text/jinja_evaluate.hpp"

namespace inlay::text::jinja {

class Evaluator::Level {
 public:
  explicit Level(Evaluator& evaluator) : evaluator_(evaluator) {
    if (++evaluator_.depth_ > deepest) {
      fail(Trouble::limit, "the template's calls and expressions are nested too deeply");
    }
  }
  ~Level() { --evaluator_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  static constexpr int deepest = 1000;

  Evaluator& evaluator_;
};

}  // namespace inlay::text::jinja

// How many characters the texts of an expression have.
#include <algorithm>

#include "text/regex_sets.hpp"

namespace inlay::text {

Lengths lengths(const Expressions& expressions, ExpressionId id) {
  constexpr std::uint64_t endless = std::uint64_t{1} << 62;
  const auto times = [](std::uint64_t a, std::uint64_t b) {
    return a == 0 || b == 0 ? 0 : a >= endless / b ? endless : a * b;
  };
  const Expressions::Node& node = expressions[id];
  switch (node.form) {
    case Form::character:
    case Form::chars: return {1, 1};
    case Form::sequence: {
      Lengths sum;
      for (const ExpressionId part : expressions.parts(id)) {
        const Lengths one = lengths(expressions, part);
        sum = {std::min(endless, sum.least + one.least), std::min(endless, sum.most + one.most)};
      }
      return sum;
    }
    case Form::choice: {
      Lengths any{endless, 0};
      for (const ExpressionId part : expressions.parts(id)) {
        const Lengths one = lengths(expressions, part);
        any = {std::min(any.least, one.least), std::max(any.most, one.most)};
      }
      return any;
    }
    case Form::repeat: {
      const Lengths one = lengths(expressions, expressions.parts(id)[0]);
      return {times(one.least, node.least),
              node.most == unbounded ? times(one.most, endless) : times(one.most, node.most)};
    }
    default: return {};
  }
}

}  // namespace inlay::text

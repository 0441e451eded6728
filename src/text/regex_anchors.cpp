// The anchors of a pattern, turned into what may stand before and after a match.
#include "text/regex_anchors.hpp"

#include <vector>

#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

// What lies on one side of a part: more of the pattern; the edge of the text; or any text up to the edge.
enum class Side { inner, edge, open };

class AnchorResolver {
 public:
  AnchorResolver(Expressions& expressions, const std::string& where) : expressions_(expressions), where_(where) {}

  // The recursion is as deep as the pattern's groups, which the parser limits.
  ExpressionId resolve(ExpressionId id, Side left, Side right) {
    const Expressions::Node node = expressions_[id];
    if (!node.anchored) return surround({id}, left, right);
    switch (node.form) {
      case Form::begin:
        if (left == Side::inner) fail();
        return surround({}, Side::edge, right);
      case Form::end:
        if (right == Side::inner) fail();
        return surround({}, left, Side::edge);
      case Form::choice: {
        std::vector<ExpressionId> branches = parts(id);
        for (ExpressionId& branch : branches) branch = resolve(branch, left, right);
        return expressions_.choice(branches);
      }
      case Form::sequence: return sequence(parts(id), left, right);
      default: fail();
    }
  }

 private:
  ExpressionId sequence(std::vector<ExpressionId> parts, Side left, Side right) {
    const auto is = [&](ExpressionId part, Form form) { return expressions_[part].form == form; };
    std::size_t begin = 0, end = parts.size();
    for (; begin < end && is(parts[begin], Form::begin); ++begin) left = outward(left);
    for (; begin < end && is(parts[end - 1], Form::end); --end) right = outward(right);
    std::vector<ExpressionId> out;
    for (std::size_t i = begin; i < end; ++i) {
      const bool first = i == begin, last = i + 1 == end;
      out.push_back(resolve(parts[i], first ? left : Side::inner, last ? right : Side::inner));
    }
    if (begin == end) return surround({}, left, right);
    return expressions_.sequence(out);
  }

  Side outward(Side side) const {
    if (side == Side::inner) fail();
    return Side::edge;
  }

  ExpressionId surround(std::vector<ExpressionId> middle, Side left, Side right) {
    const auto any = [&] { return expressions_.repeat(expressions_.chars(CharSet::any()), 0, unbounded); };
    if (left == Side::open) middle.insert(middle.begin(), any());
    if (right == Side::open) middle.push_back(any());
    return middle.empty() ? expressions_.empty() : expressions_.sequence(middle);
  }

  std::vector<ExpressionId> parts(ExpressionId id) const {
    const auto span = expressions_.parts(id);
    return {span.begin(), span.end()};
  }

  [[noreturn]] void fail() const {
    refuse(Flaw::unsupported, "the pattern " + where_ + " has an anchor in the middle, which is not supported", where_);
  }

  Expressions& expressions_;
  const std::string& where_;
};

}  // namespace

ExpressionId resolve_anchors(ExpressionId id, Match match, Expressions& expressions, const std::string& where) {
  const Side side = match == Match::search ? Side::open : Side::edge;
  return AnchorResolver(expressions, where).resolve(id, side, side);
}

}  // namespace inlay::text

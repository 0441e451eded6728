// What followed in a text when it last read as it does now.
#pragma once

#include <algorithm>
#include <span>

namespace inlay::runtime {

template <class T>
struct Continuation {
  std::size_t match = 0;  // elements before it that are the same as the last ones
  std::span<const T> what = {};
};

// The continuation of the longest earlier run that is the same as the end of `history`, up to `longest`; of equals, the
// latest. In time linear in the history, times `longest` for one that repeats itself.
template <class T>
Continuation<T> continuation(std::span<const T> history, std::size_t longest = 32) {
  const auto size = history.size();
  std::size_t match = 0, at = size;
  for (std::size_t end = size; end-- > 1 && match < longest;) {
    if (history[end - 1] != history[size - 1]) continue;
    std::size_t same = 1;
    while (same < longest && same < end && history[end - 1 - same] == history[size - 1 - same]) ++same;
    if (same > match) match = same, at = end;
  }
  return {match, history.subspan(at)};
}

// Another continuation than the first `length` elements of `what`, which follows a run of at least `least` elements
// that is the same as the end of `history`: the one of the longest run, of equals the latest. `from`: how many
// elements both have in common. No match: there is none.
template <class T>
struct Alternative : Continuation<T> {
  std::size_t from = 0;
};
template <class T>
Alternative<T> alternative(std::span<const T> history, std::span<const T> what, std::size_t length, std::size_t least,
                           std::size_t longest = 32) {
  const auto size = history.size();
  length = std::min(length, what.size());
  Alternative<T> best;
  for (std::size_t end = size; end-- > 1 && best.match < longest;) {
    if (history[end - 1] != history[size - 1]) continue;
    std::size_t same = 1;
    while (same < longest && same < end && history[end - 1 - same] == history[size - 1 - same]) ++same;
    if (same < least || same <= best.match) continue;
    const auto other = history.subspan(end);
    std::size_t from = 0;
    while (from < length && from < other.size() && other[from] == what[from]) ++from;
    if (from < length && from < other.size()) best = {{same, other.subspan(from)}, from};
  }
  return best;
}

}  // namespace inlay::runtime

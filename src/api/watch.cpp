// A guard's verdicts, and the text that waits for them.
#include "api/watch.hpp"

#include <algorithm>

namespace inlay {
inline namespace v0 {

bool Watch::admits(std::string_view prompt) const {
  return !guard_.on_prompt || guard_.on_prompt(prompt) == Verdict::allow;
}

bool Watch::stops(Verdict verdict) {
  if (verdict != Verdict::allow) held_.clear();
  return verdict == Verdict::stop;
}

std::size_t Watch::ready(bool last) const {
  if (last || (!guard_.on_text && !guard_.on_finish)) return held_.size();
  const auto window = guard_.window < 0 ? held_.size() : std::size_t(guard_.window);
  auto end = held_.size() - std::min(held_.size(), window);
  while (end > 0 && end < held_.size() && continues_character(held_[end])) --end;
  return end;
}

bool Watch::pass(std::string_view more, bool last, std::string& shown) {
  held_ += more;
  if (guard_.on_finish) whole_ += more;
  if (guard_.on_text && !more.empty() && stops(guard_.on_text(held_))) return false;
  if (guard_.on_finish && last && stops(guard_.on_finish(whole_))) return false;
  const auto end = ready(last);
  shown.append(held_, 0, end);
  held_.erase(0, end);
  return true;
}

}  // namespace v0
}  // namespace inlay

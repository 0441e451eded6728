// Templates behind the door, and the clock that they see.
#include "api/chat_state.hpp"
#include "api/guarded.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

std::optional<std::tm> clock_of(const std::optional<std::int64_t>& seconds) {
  if (!seconds) return std::nullopt;
  // Civil date from days since 1970 (Hinnant 2013), without the time zone and the lock of the C library.
  const auto days = (*seconds >= 0 ? *seconds : *seconds - 86399) / 86400, rest = *seconds - days * 86400;
  const auto z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
  const auto day_of_era = z - era * 146097;
  const auto year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const auto day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto month = (5 * day_of_year + 2) / 153;
  std::tm time = {};
  time.tm_mday = int(day_of_year - (153 * month + 2) / 5 + 1);
  time.tm_mon = int(month < 10 ? month + 2 : month - 10);
  time.tm_year = int(year_of_era + era * 400 + (time.tm_mon <= 1) - 1900);
  time.tm_hour = int(rest / 3600), time.tm_min = int(rest / 60 % 60), time.tm_sec = int(rest % 60);
  time.tm_wday = int(((days + 4) % 7 + 7) % 7);
  constexpr int before_month[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int year = time.tm_year + 1900;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  time.tm_yday = before_month[time.tm_mon] + time.tm_mday - 1 + (leap && time.tm_mon > 1);
  return time;
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source)
    : state_(guarded([&] { return std::make_shared<const TemplateState>(source); })) {}

Prompt ChatTemplate::render(const RenderOptions& options) const {
  return guarded([&] {
    auto rendered = state_->compiled.render({.messages = options.messages,
                                             .tools = options.tools,
                                             .documents = options.documents,
                                             .variables = options.variables,
                                             .add_generation_prompt = options.add_generation_prompt,
                                             .bos_token = options.bos_token,
                                             .eos_token = options.eos_token,
                                             .now = clock_of(options.now)});
    Prompt prompt{std::move(rendered.text), {}};
    for (const auto& span : rendered.spans) prompt.spans.push_back({span.begin, span.end, PromptSpan::Kind(span.kind)});
    return prompt;
  });
}

std::vector<std::string> ChatTemplate::lint(std::string_view bos_token, bool tokenizer_adds_bos) const {
  return guarded([&] { return state_->compiled.lint({bos_token, tokenizer_adds_bos}); });
}

}  // namespace v0
}  // namespace inlay

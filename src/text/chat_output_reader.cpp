// Looks for marks in text that arrives in pieces: what may be the beginning of one waits for the rest.
#include "text/chat_output_reader.hpp"

#include <algorithm>
#include <span>

namespace inlay::text {
namespace {

constexpr std::string_view spaces = " \n\r\t";

using Marks = std::vector<std::string_view>;

struct FamilyMarks {
  Marks openers, closers;
};

FamilyMarks marks_of(OutputFormat::Calls calls) {
  using Calls = OutputFormat::Calls;
  switch (calls) {
    case Calls::tool_call_tag: return {{"<tool_call>", "<seed:tool_call>"}, {"</tool_call>", "</seed:tool_call>"}};
    case Calls::invoke_tag: return {{"<invoke name=\""}, {"<minimax:tool_call>", "</minimax:tool_call>"}};
    case Calls::llama: return {{"<|python_tag|>"}, {}};
    case Calls::mistral: return {{"[TOOL_CALLS]"}, {}};
    case Calls::deepseek:
      return {{"<｜tool▁call▁begin｜>"},
              {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>", "```<｜tool▁call▁end｜>"}};
    case Calls::kimi:
      return {{"<|tool_call_begin|>"},
              {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_end|>"}};
    case Calls::gemma: return {{"<|tool_call>"}, {}};
    default: return {};
  }
}

}  // namespace

std::string_view first_mark(std::string_view text, std::span<const std::string_view> marks, std::size_t& at) {
  std::string_view first;
  at = text.npos;
  for (const std::string_view mark : marks) {
    const std::size_t found = mark.empty() ? text.npos : text.find(mark);
    if (found == text.npos || found > at || (found == at && mark.size() <= first.size())) continue;
    first = mark;
    at = found;
  }
  return first;
}

std::size_t unfinished_mark(std::string_view text, std::span<const std::string_view> marks) {
  std::size_t longest = 0;
  for (const std::string_view mark : marks) {
    for (std::size_t size = std::min(std::max<std::size_t>(mark.size(), 1) - 1, text.size()); size > longest; --size) {
      if (text.ends_with(mark.substr(0, size))) longest = size;
    }
  }
  return longest;
}

void OutputReader::push(std::string_view text) {
  pending_ += text;
  while (step()) {
  }
}

void OutputReader::finish() {
  at_end_ = true;
  while (step()) {
  }
  sink.finish();
}

MarkedReader::MarkedReader(OutputFormat format, bool starts_in_reasoning, std::string_view tools)
    : format_(std::move(format)), strings_(string_parameters(tools)) {
  auto marks = marks_of(format_.calls);
  openers_ = std::move(marks.openers);
  closers_ = std::move(marks.closers);
  mode_ = starts_in_reasoning ? Mode::reasoning : Mode::start;
}

bool MarkedReader::whole_message_may_be_a_call() const {
  return format_.calls == OutputFormat::Calls::llama || format_.calls == OutputFormat::Calls::json;
}

bool MarkedReader::step() {
  switch (mode_) {
    case Mode::start: return step_start();
    case Mode::opened: return step_opened();
    case Mode::call: return step_call();
    default: return step_text();
  }
}

void MarkedReader::enter(std::unique_ptr<CallReader> reader) {
  call_ = std::move(reader);
  mode_ = Mode::call;
}

// A message, or what follows its reasoning, that begins like JSON may be a call without any marks.
bool MarkedReader::step_start() {
  static constexpr std::string_view fence = "```json";
  const std::size_t begin = pending_.find_first_not_of(spaces);
  if (!whole_message_may_be_a_call()) {
    mode_ = Mode::text;
    return true;
  }
  if (begin == pending_.npos) {
    if (at_end_) mode_ = Mode::text;
    return at_end_;
  }
  const std::string_view rest = std::string_view(pending_).substr(begin);
  const bool may_be_fence =
      format_.calls == OutputFormat::Calls::json && fence.starts_with(rest.substr(0, fence.size()));
  if (may_be_fence && rest.size() < fence.size() && !at_end_) return false;
  const std::size_t opener = may_be_fence && rest.size() >= fence.size() ? begin + fence.size() : 0;
  if (opener > 0 || rest[0] == '{' || rest[0] == '[') {
    std::string taken = pending_.substr(0, opener);
    pending_.erase(0, opener);
    if (opener > 0) closers_ = {"```"};
    enter(std::make_unique<JsonCallReader>(std::move(taken), false));
  } else {
    mode_ = Mode::text;
  }
  return true;
}

bool MarkedReader::step_text() {
  const bool in_reasoning = mode_ == Mode::reasoning;
  Marks marks = openers_;
  marks.push_back(format_.reasoning_end);
  if (!in_reasoning) {
    marks.push_back(format_.reasoning_begin);
    marks.insert(marks.end(), closers_.begin(), closers_.end());
  }
  std::size_t at = 0;
  const std::string_view mark = first_mark(pending_, marks, at);
  const std::size_t keeps = at_end_ || !mark.empty() ? 0 : unfinished_mark(pending_, marks);
  const std::string before = pending_.substr(0, mark.empty() ? pending_.size() - keeps : at);
  in_reasoning ? sink.reasoning(before) : sink.content(before);
  pending_.erase(0, before.size() + mark.size());
  if (!mark.empty()) meet(mark);
  return !mark.empty();
}

void MarkedReader::meet(std::string_view mark) {
  const bool in_reasoning = mode_ == Mode::reasoning;
  if (mark == format_.reasoning_end) {
    if (!in_reasoning) sink.content_is_reasoning();
    sink.mark();
    mode_ = Mode::start;
  } else if (mark == format_.reasoning_begin) {
    sink.mark();
    mode_ = Mode::reasoning;
  } else if (std::find(openers_.begin(), openers_.end(), mark) != openers_.end()) {
    opener_ = mark;
    mode_ = Mode::opened;
  } else {
    sink.mark();
  }
}

// After the mark of a call, its first character tells how the call is written.
bool MarkedReader::step_opened() {
  using Calls = OutputFormat::Calls;
  const std::size_t begin = pending_.find_first_not_of(spaces);
  if (begin == pending_.npos && !at_end_) return false;
  const char first = begin == pending_.npos ? '\0' : pending_[begin];
  const bool is_json = first == '{' || first == '[';
  switch (format_.calls) {
    case Calls::invoke_tag:
      pending_.insert(0, opener_);
      enter(std::make_unique<TaggedCallReader>("", invoke_tags, strings_));
      break;
    case Calls::gemma: enter(std::make_unique<GemmaCallReader>(opener_)); break;
    case Calls::deepseek:
    case Calls::kimi: enter(std::make_unique<NamedCallReader>(opener_)); break;
    default:
      if (is_json) {
        enter(std::make_unique<JsonCallReader>(opener_, true));
      } else if (format_.calls == Calls::mistral) {
        enter(std::make_unique<NamedCallReader>(opener_));
      } else if (format_.calls == Calls::llama) {
        enter(std::make_unique<PythonCallReader>(opener_));
      } else {
        enter(std::make_unique<TaggedCallReader>(opener_, first == '<' ? function_tags : key_value_tags, strings_));
      }
  }
  return true;
}

bool MarkedReader::step_call() {
  const auto status = call_->read(pending_, at_end_, sink);
  if (status == CallReader::Status::more) return false;
  if (status == CallReader::Status::failed) sink.content(call_->raw());
  if (status == CallReader::Status::done) sink.mark();
  call_.reset();
  mode_ = Mode::text;
  return true;
}

}  // namespace inlay::text

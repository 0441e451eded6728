// White space at the edges of parts is the only thing to decide here.
#include "text/chat_output_sink.hpp"

namespace inlay::text {
namespace {

constexpr std::string_view spaces = " \n\r\t";

}  // namespace

void OutputSink::emit(OutputDelta::Kind kind, std::string_view text) {
  if (!deltas_.empty() && deltas_.back().kind == kind && kind != OutputDelta::Kind::tool_name) {
    deltas_.back().text += text;
  } else {
    deltas_.push_back({kind, std::string(text)});
  }
}

void OutputSink::add(OutputDelta::Kind kind, std::string& part, std::string_view text) {
  const bool trims_start = part.empty() && (is_marked_ || kind == OutputDelta::Kind::reasoning);
  std::string all = std::exchange(kept_back_, {});
  all += text;
  if (trims_start) all.erase(0, std::min(all.find_first_not_of(spaces), all.size()));
  const std::size_t end = all.find_last_not_of(spaces) + 1;
  kept_back_ = all.substr(end);
  kept_kind_ = kind;
  if (end == 0) return;
  emit(kind, std::string_view(all).substr(0, end));
  part.append(all, 0, end);
  is_marked_ = false;
}

void OutputSink::begin_call(std::string_view name) {
  mark();
  message_.tool_calls.push_back({std::string(name), ""});
  emit(OutputDelta::Kind::tool_name, name);
}

void OutputSink::arguments(std::string_view text) {
  if (text.empty()) return;
  message_.tool_calls.back().arguments += text;
  emit(OutputDelta::Kind::tool_arguments, text);
}

void OutputSink::content_is_reasoning() {
  mark();
  if (message_.content.empty()) return;
  message_.reasoning += std::exchange(message_.content, {});
  message_.reasoning.erase(0, message_.reasoning.find_first_not_of(spaces));
  deltas_.push_back({OutputDelta::Kind::content_is_reasoning, ""});
}

void OutputSink::finish() {
  if (is_marked_ || kept_back_.empty() || kept_kind_ != OutputDelta::Kind::content) return;
  emit(OutputDelta::Kind::content, kept_back_);
  message_.content += std::exchange(kept_back_, {});
}

}  // namespace inlay::text

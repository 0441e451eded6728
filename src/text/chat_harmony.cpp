// The channels of gpt-oss: a header, its body, and the mark that ends it.
#include <algorithm>
#include <iterator>

#include "text/chat_output_reader.hpp"

namespace inlay::text {

HarmonyReader::HarmonyReader(bool starts_in_reasoning) : body_(starts_in_reasoning ? Body::reasoning : Body::none) {}

void HarmonyReader::begin_body(std::string_view header) {
  const auto word_after = [&](std::string_view mark) {
    const std::size_t at = header.find(mark);
    if (at == header.npos) return std::string_view{};
    const std::string_view rest = header.substr(at + mark.size());
    return rest.substr(0, rest.find_first_of(" <\n"));
  };
  std::string_view recipient = word_after("to=");
  sink.mark();
  if (!recipient.empty()) {
    if (recipient.starts_with("functions.")) recipient.remove_prefix(10);
    sink.begin_call(recipient);
    body_ = Body::arguments;
  } else {
    body_ = word_after("<|channel|>") == "analysis" ? Body::reasoning : Body::content;
  }
}

bool HarmonyReader::step_header() {
  static constexpr std::string_view message = "<|message|>";
  const std::size_t begin = std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size());
  const std::string_view rest = std::string_view(pending_).substr(begin);
  static constexpr std::string_view beginnings[] = {"<|start|>", "<|channel|>", "assistant", "to=", "<|message|>"};
  const bool is_header = std::any_of(std::begin(beginnings), std::end(beginnings), [&](std::string_view each) {
    return each.starts_with(rest.substr(0, each.size()));
  });
  if (!is_header) {  // a model that writes plain text
    body_ = Body::content;
    return true;
  }
  const std::size_t end = pending_.find(message);
  if (end == pending_.npos) return false;
  begin_body(std::string_view(pending_).substr(0, end));
  pending_.erase(0, end + message.size());
  return true;
}

void HarmonyReader::add(std::string_view text) {
  if (body_ == Body::content) sink.content(text);
  if (body_ == Body::reasoning) sink.reasoning(text);
  if (body_ == Body::arguments) sink.arguments(text);
}

bool HarmonyReader::step() {
  if (body_ == Body::none) return step_header();
  static constexpr std::string_view marks[] = {"<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"};
  std::size_t at = 0;
  const std::string_view mark = first_mark(pending_, marks, at);
  const std::size_t keeps = at_end_ || !mark.empty() ? 0 : unfinished_mark(pending_, marks);
  const std::size_t size = mark.empty() ? pending_.size() - keeps : at;
  add(std::string_view(pending_).substr(0, size));
  const bool begins_header = mark == "<|start|>" || mark == "<|channel|>";
  pending_.erase(0, size + (begins_header ? 0 : mark.size()));
  if (mark.empty()) return false;
  if (body_ != Body::content) sink.mark();
  body_ = Body::none;
  return true;
}

}  // namespace inlay::text

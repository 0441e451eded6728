// Collects the parts of a message and the deltas that lead to them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat_output.hpp"

namespace inlay::text {

class OutputSink {
 public:
  const OutputMessage& message() const { return message_; }
  std::vector<OutputDelta> take_deltas() { return std::exchange(deltas_, {}); }

  // White space between an answer and the marks around it belongs to neither, so it is kept back until text follows.
  void content(std::string_view text) { add(OutputDelta::Kind::content, message_.content, text); }
  void reasoning(std::string_view text) { add(OutputDelta::Kind::reasoning, message_.reasoning, text); }
  void begin_call(std::string_view name);
  void arguments(std::string_view text);

  // A mark stands here: what is kept back is dropped.
  void mark() { kept_back_.clear(), is_marked_ = true; }
  void content_is_reasoning();
  void finish();

 private:
  void add(OutputDelta::Kind kind, std::string& part, std::string_view text);
  void emit(OutputDelta::Kind kind, std::string_view text);

  OutputMessage message_;
  std::vector<OutputDelta> deltas_;
  std::string kept_back_;
  OutputDelta::Kind kept_kind_ = OutputDelta::Kind::content;
  bool is_marked_ = false;
};

}  // namespace inlay::text

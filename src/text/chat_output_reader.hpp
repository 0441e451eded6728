// The two ways in which families lay out a message: marks within text, and channels.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat_call_reader.hpp"

namespace inlay::text {

// The first of the marks in the text, the longest where several begin there; empty where there is none.
std::string_view first_mark(std::string_view text, std::span<const std::string_view> marks, std::size_t& at);
// Bytes at the end of `text` that may be the beginning of one of the marks.
std::size_t unfinished_mark(std::string_view text, std::span<const std::string_view> marks);

class OutputReader {
 public:
  virtual ~OutputReader() = default;

  void push(std::string_view text);
  void finish();

  OutputSink sink;

 protected:
  // Takes one thing from the front of pending_; false where more text is needed for that.
  virtual bool step() = 0;

  std::string pending_;
  bool at_end_ = false;
};

// Text with marks around reasoning and calls.
class MarkedReader : public OutputReader {
 public:
  MarkedReader(OutputFormat format, bool starts_in_reasoning, std::string_view tools);

 private:
  enum class Mode : std::uint8_t { start, text, reasoning, opened, call };

  bool step() override;
  bool step_start();
  bool step_text();
  bool step_opened();
  bool step_call();
  void meet(std::string_view mark);
  void enter(std::unique_ptr<CallReader> reader);
  bool whole_message_may_be_a_call() const;

  OutputFormat format_;
  StringParameters strings_;
  std::vector<std::string_view> openers_, closers_;
  Mode mode_;
  std::string opener_;
  std::unique_ptr<CallReader> call_;
};

// gpt-oss: headers with a channel and perhaps a recipient, each with a body.
class HarmonyReader : public OutputReader {
 public:
  explicit HarmonyReader(bool starts_in_reasoning);

 private:
  enum class Body : std::uint8_t { none, content, reasoning, arguments };

  bool step() override;
  bool step_header();
  void begin_body(std::string_view header);
  void add(std::string_view text);

  Body body_;
};

}  // namespace inlay::text

// Reads tool calls out of a model's text as it arrives, one class for each way to write them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat_output_sink.hpp"

namespace inlay::text {

class CallReader {
 public:
  enum class Status : std::uint8_t { more, done, failed };

  virtual ~CallReader() = default;

  // Takes what it understands from the front of `pending`. `failed`: this is no call, and raw() is plain text.
  virtual Status read(std::string& pending, bool at_end, OutputSink& sink) = 0;

  // Everything taken so far, as long as it may still turn out to be plain text.
  const std::string& raw() const { return raw_; }

 protected:
  std::string take(std::string& pending, std::size_t size);

  std::string raw_;
};

// Finds the end of one JSON value in text that arrives in pieces.
class JsonEnd {
 public:
  // How many bytes at the front of `text` belong to the value.
  std::size_t feed(std::string_view text);
  bool is_done() const { return is_done_; }

 private:
  int depth_ = 0;
  bool is_started_ = false, in_string_ = false, is_escaped_ = false, is_scalar_ = false, is_done_ = false;
};

// {"name": ..., "arguments": {...}}, or a list of these. Where calls are not marked, an object without arguments is
// text.
class JsonCallReader : public CallReader {
 public:
  JsonCallReader(std::string opener, bool is_marked) : is_marked_(is_marked) { raw_ = std::move(opener); }
  Status read(std::string& pending, bool at_end, OutputSink& sink) override;

 private:
  enum class State : std::uint8_t { start, key, value, arguments, skipped, between };

  bool step(std::string& pending, bool at_end, OutputSink& sink);  // false: needs more text
  bool read_key(std::string& pending, OutputSink& sink);
  bool read_value(std::string& pending, OutputSink& sink);
  bool read_text(std::string& pending, std::string& text);
  void begin(OutputSink& sink);
  void add_arguments(std::string_view text, OutputSink& sink);
  void end_object(OutputSink& sink);

  State state_ = State::start;
  Status status_ = Status::more;
  bool is_marked_, in_list_ = false, has_begun_ = false;
  int nested_ = 0;
  std::string key_, name_, early_arguments_;
  JsonEnd value_;
};

// A name, marks of the family, and a JSON object.
class NamedCallReader : public CallReader {
 public:
  explicit NamedCallReader(std::string opener) { raw_ = std::move(opener); }
  Status read(std::string& pending, bool at_end, OutputSink& sink) override;

 private:
  bool in_arguments_ = false;
  JsonEnd value_;
};

// Names of parameters that are strings, by tool.
using StringParameters = std::map<std::string, std::set<std::string>, std::less<>>;
StringParameters string_parameters(std::string_view tools);

// The marks of calls whose arguments stand between tags.
struct TagStyle {
  std::string_view name_begin, name_end, key_begin, key_end, value_begin, value_end, close;
};
extern const TagStyle function_tags, key_value_tags, invoke_tags;

class TaggedCallReader : public CallReader {
 public:
  TaggedCallReader(std::string opener, const TagStyle& style, const StringParameters& strings)
      : style_(style), strings_(strings) {
    raw_ = std::move(opener);
  }
  Status read(std::string& pending, bool at_end, OutputSink& sink) override;

 private:
  enum class State : std::uint8_t { name, key, value };

  bool step(std::string& pending, OutputSink& sink);
  bool read_name(std::string& pending, OutputSink& sink);
  std::string json_of(std::string_view value) const;

  const TagStyle& style_;
  const StringParameters& strings_;
  State state_ = State::name;
  Status status_ = Status::more;
  std::string name_, key_;
  bool has_arguments_ = false;
};

// call:name{key:<|"|>text<|"|>,other:3}, up to <tool_call|>.
class GemmaCallReader : public CallReader {
 public:
  explicit GemmaCallReader(std::string opener) { raw_ = std::move(opener); }
  Status read(std::string& pending, bool at_end, OutputSink& sink) override;
};

// name.call(key="value"), or code for the tool `python`, up to the end of the message.
class PythonCallReader : public CallReader {
 public:
  explicit PythonCallReader(std::string opener) { raw_ = std::move(opener); }
  Status read(std::string& pending, bool at_end, OutputSink& sink) override;
};

// The text as a JSON string.
std::string json_quoted(std::string_view text);

}  // namespace inlay::text

// What a model wrote, taken apart while it streams in: the answer, the reasoning, and the calls of tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::text {

// How a model's family writes tool calls and reasoning.
struct OutputFormat {
  enum class Calls : std::uint8_t {
    none,
    tool_call_tag,  // <tool_call>, with JSON, <function=...> or <arg_key> inside: Hermes, Qwen, GLM and others
    invoke_tag,     // <invoke name="...">: MiniMax
    llama,          // the whole message is JSON, perhaps after <|python_tag|>
    mistral,        // [TOOL_CALLS]
    deepseek,       // <｜tool▁calls▁begin｜>
    kimi,           // <|tool_calls_section_begin|>
    harmony,        // gpt-oss: channels, for reasoning as well
    gemma,          // <|tool_call>call:name{...}<tool_call|>
    json            // the whole message is JSON, perhaps in a code fence
  };

  Calls calls = Calls::none;
  std::string reasoning_begin;  // empty: the family marks no reasoning
  std::string reasoning_end;

  // What a model with this chat template is expected to write.
  static OutputFormat of_template(std::string_view source);

  // What ends the reasoning and begins the answer.
  std::string answer_begin() const;

  // Whether an answer to this prompt begins within the reasoning.
  bool opens_reasoning(std::string_view prompt) const;
};

struct ToolCallText {
  std::string name;
  std::string arguments;  // JSON

  bool operator==(const ToolCallText&) const = default;
};

struct OutputMessage {
  std::string content;
  std::string reasoning;
  std::vector<ToolCallText> tool_calls;

  bool operator==(const OutputMessage&) const = default;
};

// What one more piece of text adds to the message.
struct OutputDelta {
  enum class Kind : std::uint8_t {
    content,
    reasoning,
    tool_name,             // a new call begins
    tool_arguments,        // more of the last call's arguments
    content_is_reasoning,  // all content so far was reasoning: its end came without a beginning
  };

  Kind kind;
  std::string text;
};

class ChatOutput {
 public:
  // `tools` is the JSON that the template was given, or empty: parameters of type string are not read as JSON.
  explicit ChatOutput(OutputFormat format, bool starts_in_reasoning = false, std::string_view tools = {});
  ~ChatOutput();

  // Text may end anywhere, even within a mark: what could be the beginning of one is held back.
  std::vector<OutputDelta> push(std::string_view text);
  // The rest, when the model has ended. Broken calls come out as content.
  std::vector<OutputDelta> finish();

  const OutputMessage& message() const;

 private:
  std::unique_ptr<class OutputReader> reader_;
};

}  // namespace inlay::text

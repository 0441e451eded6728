// Which family a template belongs to, and the public face of the readers.
#include "text/chat_output.hpp"

#include "text/chat_output_reader.hpp"

namespace inlay::text {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

OutputFormat::Calls calls_of(std::string_view source) {
  using Calls = OutputFormat::Calls;
  if (has(source, "<|channel|>") && has(source, "<|message|>")) return Calls::harmony;
  if (has(source, "<|tool_call>")) return Calls::gemma;
  if (has(source, "tool▁call▁begin")) return Calls::deepseek;
  if (has(source, "tool_calls_section_begin")) return Calls::kimi;
  if (has(source, "[TOOL_CALLS]")) return Calls::mistral;
  if (has(source, "<invoke name=")) return Calls::invoke_tag;
  if (has(source, "<tool_call>")) return Calls::tool_call_tag;
  if (has(source, "<|python_tag|>") || has(source, "ipython")) return Calls::llama;
  return has(source, "tools") ? Calls::json : Calls::none;
}

struct Marks {
  std::string_view begin, end;
};

constexpr Marks reasoning_marks[] = {{"<think>", "</think>"},
                                     {"[THINK]", "[/THINK]"},
                                     {"<seed:think>", "</seed:think>"},
                                     {"<mm:think>", "</mm:think>"},
                                     {"<|channel>thought", "<channel|>"},
                                     {"<|START_THINKING|>", "<|END_THINKING|>"}};

}  // namespace

OutputFormat OutputFormat::of_template(std::string_view source) {
  OutputFormat format{.calls = calls_of(source), .reasoning_begin = {}, .reasoning_end = {}};
  for (const Marks& marks : reasoning_marks) {
    if (!has(source, marks.begin) && !has(source, marks.end)) continue;
    format.reasoning_begin = marks.begin;
    format.reasoning_end = marks.end;
  }
  if (format.calls == Calls::harmony) {
    format.reasoning_begin = "<|channel|>analysis<|message|>";
    format.reasoning_end = "<|end|>";
  }
  return format;
}

std::string OutputFormat::answer_begin() const {
  const bool channels = calls == Calls::harmony;
  return reasoning_end + (channels ? "<|start|>assistant<|channel|>final<|message|>" : "");
}

bool OutputFormat::opens_reasoning(std::string_view prompt) const {
  prompt = prompt.substr(0, prompt.find_last_not_of(" \n\r\t") + 1);
  return !reasoning_begin.empty() && prompt.ends_with(reasoning_begin);
}

ChatOutput::ChatOutput(OutputFormat format, bool starts_in_reasoning, std::string_view tools) {
  if (format.calls == OutputFormat::Calls::harmony) {
    reader_ = std::make_unique<HarmonyReader>(starts_in_reasoning);
  } else {
    reader_ = std::make_unique<MarkedReader>(std::move(format), starts_in_reasoning, tools);
  }
}

ChatOutput::~ChatOutput() = default;

std::vector<OutputDelta> ChatOutput::push(std::string_view text) {
  reader_->push(text);
  return reader_->sink.take_deltas();
}

std::vector<OutputDelta> ChatOutput::finish() {
  reader_->finish();
  return reader_->sink.take_deltas();
}

const OutputMessage& ChatOutput::message() const { return reader_->sink.message(); }

}  // namespace inlay::text

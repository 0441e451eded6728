// A test case of a chat template as the input of a rendering.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/fixtures.hpp"
#include "text/chat_template.hpp"

namespace chat {

// Keeps the JSON texts that the input refers to.
class Input {
 public:
  explicit Input(const nlohmann::ordered_json& row) {
    auto variables = row.value("vars", nlohmann::ordered_json::object());
    input_.bos_token = variables.value("bos_token", "");
    input_.eos_token = variables.value("eos_token", "");
    variables.erase("bos_token");
    variables.erase("eos_token");
    variables_ = variables.dump();
    messages_ = row["messages"].dump();
    const bool pass_null = row.value("pass_null", false);
    if (row.contains("tools") && (pass_null || !row["tools"].is_null())) tools_ = row["tools"].dump();
    if (row.contains("documents") && (pass_null || !row["documents"].is_null())) documents_ = row["documents"].dump();
    input_.add_generation_prompt = row.value("add_generation_prompt", false);
    if (row.contains("now")) input_.now = time_of(row["now"]);
  }

  // Refers to this object.
  inlay::text::RenderInput view() const;

 private:
  static std::tm time_of(const std::string& text) {
    std::tm time{};
    std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
                &time.tm_min, &time.tm_sec);
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    return time;
  }

  inlay::text::RenderInput input_;
  std::string messages_, tools_, documents_, variables_;
};

inline inlay::text::RenderInput Input::view() const {
  auto input = input_;
  input.messages = messages_;
  input.tools = tools_;
  input.documents = documents_;
  input.variables = variables_;
  return input;
}

// The template of a file, compiled once for all of its cases.
inline const inlay::text::ChatTemplate& compiled(const std::filesystem::path& path) {
  static std::map<std::string, inlay::text::ChatTemplate> templates;
  return templates.try_emplace(path.string(), support::read(path)).first->second;
}

// The spans follow one another from the first byte to the last, and neighbours differ.
inline bool spans_cover(const inlay::text::Rendered& rendered) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < rendered.spans.size(); ++i) {
    const auto& span = rendered.spans[i];
    if (span.begin != at || span.end <= at || (i > 0 && span.kind == rendered.spans[i - 1].kind)) return false;
    at = span.end;
  }
  return at == rendered.text.size();
}

}  // namespace chat

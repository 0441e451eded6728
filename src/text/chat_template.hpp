// A model's own chat template, the Jinja program in its file, compiled once and rendered within fixed limits.
#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_span.hpp"

namespace inlay::text {

// What one rendering may cost. Templates come out of files from strangers.
struct TemplateLimits {
  std::size_t memory = std::size_t{44} << 20;  // bytes of values, the compiled template included
  std::size_t output = std::size_t{16} << 20;  // bytes of any one text
  std::size_t steps = 10'000'000;
  std::size_t range = 100'000;  // items of range(), as in Jinja2's sandbox
  int calls = 100;              // macros within macros
};

// The variables of one rendering, as JSON text; an empty view leaves the variable undefined, "null" makes it none.
struct RenderInput {
  std::string_view messages = "[]";
  std::string_view tools;
  std::string_view documents;
  std::string_view variables;  // an object of further variables (enable_thinking, date_string, ...)
  bool add_generation_prompt = true;
  std::string bos_token;
  std::string eos_token;
  std::optional<std::tm> now;  // the local time that strftime_now() sees
};

struct Rendered {
  std::string text;
  std::vector<Span> spans;  // in order, without gaps, neighbours of different kinds
};

// What a lint needs to know about the model's tokenizer.
struct LintContext {
  std::string_view bos_token;
  bool tokenizer_adds_bos = false;
};

// Immutable, and safe to share between threads.
class ChatTemplate {
 public:
  // Throws Error{format} with where() = "line:column" for what is no template, Error{unsupported} for a tag of Jinja
  // that chat templates do not use, both with Fault::limit where a limit was met.
  explicit ChatTemplate(std::string_view source, const TemplateLimits& limits = {});
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // Throws Error{argument} with the template's own words when it calls raise_exception() (Fault::none) and for input
  // that is not JSON (Fault::bad_value); Error{format} for everything that the template does wrong.
  Rendered render(const RenderInput& input) const;

  // One sentence for each thing that is likely to be a mistake in this template.
  std::vector<std::string> lint(const LintContext& context = {}) const;

  // Whether the template reads the variable `name` anywhere.
  bool mentions(std::string_view name) const;

  std::string_view source() const;

 private:
  std::unique_ptr<const struct CompiledTemplate> compiled_;
};

}  // namespace inlay::text

// The door to the template engine: compiling, the variables of a rendering, and errors with their place.
#include "text/chat_template.hpp"

#include <algorithm>

#include "text/jinja_evaluate.hpp"
#include "text/jinja_json.hpp"
#include "text/jinja_lexer.hpp"
#include "text/jinja_parser.hpp"
#include "text/template_compiled.hpp"

namespace inlay::text {
namespace {

using namespace jinja;

constexpr std::size_t largest_source = std::size_t{1} << 20;

std::string checked_source(std::string_view source) {
  if (source.size() > largest_source) fail(Trouble::limit, "the chat template is larger than 1 MiB");
  return normalized_source(source);
}

// The variables by name, in the order in which later ones win.
Dict* context(const Machine& machine, const RenderInput& input) {
  Dict* variables = machine.arena.make<Dict>();
  const auto set = [&](std::string_view name, const Value& value) {
    variables->set(machine.arena, machine.text(name), value);
  };
  set("bos_token", machine.text(input.bos_token));
  set("eos_token", machine.text(input.eos_token));
  set("messages", messages_from_json(machine, input.messages));
  set("add_generation_prompt", Value::of(input.add_generation_prompt));
  if (!input.tools.empty()) set("tools", from_json(machine, input.tools, Span::Kind::tool, "tools"));
  if (!input.documents.empty()) set("documents", from_json(machine, input.documents, Span::Kind::other, "documents"));
  if (input.variables.empty()) return variables;
  const Value more = from_json(machine, input.variables, Span::Kind::other, "variables");
  if (!more.is(Type::dict)) fail(Trouble::input, "variables is not a JSON object");
  for (const auto& [key, value] : more.dict->entries()) variables->set(machine.arena, key, value);
  return variables;
}

std::span<Value> globals(const Machine& machine, const Syntax& syntax, const RenderInput& input) {
  const Dict* variables = context(machine, input);
  Value* values = machine.arena.array<Value>(syntax.names.size());
  for (std::size_t i = 0; i < syntax.names.size(); ++i) {
    const std::string_view name = machine.bytes(syntax.names[i]);
    if (const Value* given = variables->find(machine.arena, name)) {
      values[i] = *given;
    } else if (const FunctionEntry* function = find_function(name)) {
      values[i] = Value::of(Type::function);
      values[i].function = function;
    } else {
      values[i] = Value::missing(syntax.names[i]);
    }
  }
  return {values, syntax.names.size()};
}

// An error within the evaluation gets the place where it happened; the template's own words stay as they are.
Error placed(const Error& error, const CompiledTemplate& compiled, std::size_t offset) {
  const std::string where = line_and_column(compiled.source, offset);
  const bool is_raised = error.code() == Errc::argument && error.fault() == Fault::none;
  const std::string sentence = is_raised ? error.what() : "chat template " + where + ": " + error.what();
  return Error(error.code(), sentence, error.fault(), where);
}

}  // namespace

CompiledTemplate::CompiledTemplate(std::string_view text, const TemplateLimits& template_limits)
    : limits(template_limits), source(checked_source(text)), budget(limits, source.size()), arena(budget) {
  syntax = parse(arena, source);
}

ChatTemplate::ChatTemplate(std::string_view source, const TemplateLimits& limits)
    : compiled_(std::make_unique<CompiledTemplate>(source, limits)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

std::string_view ChatTemplate::source() const { return compiled_->source; }

Rendered ChatTemplate::render(const RenderInput& input) const {
  Budget budget(compiled_->limits, compiled_->budget.memory_in_use());
  Arena arena(budget);
  const Machine machine{arena, input.now};
  Evaluator evaluator(compiled_->syntax, machine, globals(machine, compiled_->syntax, input));
  try {
    return evaluator.run()->write(arena);
  } catch (const Error& error) {
    throw placed(error, *compiled_, evaluator.offset());
  }
}

bool ChatTemplate::mentions(std::string_view name) const {
  Arena& arena = compiled_->arena;
  const auto& names = compiled_->syntax.names;
  return std::any_of(names.begin(), names.end(), [&](TextRef each) { return each->bytes(arena) == name; });
}

}  // namespace inlay::text

// Calls of functions, methods, macros and loops, and the binding of a macro's arguments.
#include <algorithm>

#include "text/jinja_evaluate.hpp"

namespace inlay::text::jinja {

Arguments Evaluator::arguments(const CallArguments& call, Scope& scope) {
  Arguments with;
  with.positional.reserve(call.positional.size());
  for (const ExpressionRef each : call.positional) with.positional.push_back(evaluate(each, scope));
  if (call.more_positional) {
    const List& more = machine_.items(evaluate(call.more_positional, scope));
    machine_.budget().take_memory(more.size() * sizeof(Value));
    machine_.budget().work(more.size());
    with.positional.insert(with.positional.end(), more.begin(), more.end());
  }
  for (const NamedArgument& each : call.named) with.named.emplace_back(each.name, evaluate(each.value, scope));
  if (call.more_named) {
    const Value more = evaluate(call.more_named, scope);
    if (!more.is(Type::dict)) fail(Trouble::type, "** takes a dict");
    machine_.budget().take_memory(more.dict->size() * sizeof(with.named[0]));
    machine_.budget().work(2 * more.dict->size());
    for (const auto& [key, value] : more.dict->entries()) {
      if (!key.is(Type::string)) fail(Trouble::type, "the keys of named arguments must be strings");
      with.named.emplace_back(machine_.bytes(key.text), value);
    }
  }
  return with;
}

Value Evaluator::call(const Value& callee, const Arguments& with) {
  switch (callee.type) {
    case Type::function: return callee.function->call(machine_, with);
    case Type::method: return callee.method->entry->call(machine_, callee.method->self, with);
    case Type::macro: return call_macro(*callee.macro, with);
    case Type::loop: return call_loop(*callee.loop, with);
    case Type::undefined: {
      const std::string name = callee.text ? " '" + std::string(machine_.bytes(callee.text).substr(0, 80)) + "'" : "";
      fail(Trouble::undefined, "what is called" + name + " is undefined");
    }
    default: fail(Trouble::type, "a value that is " + std::string(type_name(callee)) + " cannot be called");
  }
}

Value Evaluator::call_macro(const MacroValue& value, const Arguments& with) {
  if (calls_ == machine_.budget().limits().calls) {
    fail(Trouble::limit, "macros call each other more deeply than the limit allows");
  }
  ++calls_;
  // Parameters are found before what the macro's surroundings call the same.
  auto* scope = machine_.arena.make<Scope>(value.scope);
  bind(*value.macro, with, *scope);
  TextRef out = Text::flat(machine_.arena, {}, Origin::template_text);
  run_block(value.macro->body, *scope, out);
  --calls_;
  return Value::of(out);
}

void Evaluator::bind(const Macro& macro, const Arguments& with, Scope& scope) {
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const MacroParameter& parameter = macro.parameters[i];
    const auto named = std::find_if(with.named.begin(), with.named.end(),
                                    [&](const auto& each) { return each.first == name_of(parameter.id); });
    machine_.budget().work(1 + with.named.size() / 8);
    if (i < with.positional.size()) {
      if (named != with.named.end()) fail(Trouble::type, "a macro is given the same argument twice");
      scope.set(machine_.arena, parameter.id, with.positional[i]);
    } else if (named != with.named.end()) {
      scope.set(machine_.arena, parameter.id, named->second);
    } else {
      const Value missing = Value::missing(syntax_.names[parameter.id]);
      scope.set(machine_.arena, parameter.id, parameter.standard ? evaluate(parameter.standard, scope) : missing);
    }
  }
  bind_rest(macro, with, scope);
}

// Arguments without a parameter: the caller block, and what `varargs` and `kwargs` take.
void Evaluator::bind_rest(const Macro& macro, const Arguments& with, Scope& scope) {
  List* more = machine_.new_list();
  for (std::size_t i = macro.parameters.size(); i < with.positional.size(); ++i) {
    more->append(machine_.arena, with.positional[i]);
  }
  if (macro.takes_more_positional) scope.set(machine_.arena, varargs_id_, Value::of(more, Type::tuple));
  if (!macro.takes_more_positional && !more->empty()) fail(Trouble::type, "a macro is given too many arguments");

  Dict* named = machine_.arena.make<Dict>();
  Value caller = macro.takes_caller ? Value::missing(syntax_.names[caller_id_]) : Value{};
  for (const auto& [name, value] : with.named) {
    machine_.budget().work(1 + macro.parameters.size() / 8);
    const bool is_parameter = std::any_of(macro.parameters.begin(), macro.parameters.end(),
                                          [&, wanted = name](const auto& each) { return name_of(each.id) == wanted; });
    if (is_parameter) continue;
    if (macro.takes_caller && name == "caller") {
      caller = value;
    } else if (macro.takes_more_named) {
      named->set(machine_.arena, machine_.text(name), value);
    } else {
      fail(Trouble::type, "a macro is given an argument that it has no parameter for");
    }
  }
  if (macro.takes_more_named) scope.set(machine_.arena, kwargs_id_, Value::of(named));
  if (macro.takes_caller) scope.set(machine_.arena, caller_id_, caller);
}

Value Evaluator::call_loop(LoopState& loop, const Arguments& with) {
  const Bound bound("loop", with, {"iterable"}, 1);
  if (!loop.statement->recursive) fail(Trouble::type, "only a loop that is marked 'recursive' can be called");
  if (calls_ == machine_.budget().limits().calls) {
    fail(Trouble::limit, "a loop calls itself more deeply than the limit allows");
  }
  ++calls_;
  TextRef out = Text::flat(machine_.arena, {}, Origin::template_text);
  loop_over(*loop.statement, bound[0], loop.depth + 1, *loop.scope, out);
  --calls_;
  return Value::of(out);
}

}  // namespace inlay::text::jinja

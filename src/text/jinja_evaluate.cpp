// Expressions and calls.
#include "text/jinja_evaluate.hpp"

#include <algorithm>

#include "text/jinja_evaluate_level.hpp"
#include "text/jinja_print.hpp"

namespace inlay::text::jinja {
namespace {

constexpr NameId no_name = UINT32_MAX;

}  // namespace

Evaluator::Evaluator(const Syntax& syntax, const Machine& machine, std::span<Value> globals)
    : syntax_(syntax), machine_(machine), globals_(globals) {
  const auto find = [&](std::string_view word) {
    for (NameId id = 0; id < syntax.names.size(); ++id) {
      if (name_of(id) == word) return id;
    }
    return no_name;
  };
  loop_id_ = find("loop");
  caller_id_ = find("caller");
  varargs_id_ = find("varargs");
  kwargs_id_ = find("kwargs");
}

Value Evaluator::evaluate(ExpressionRef expression, Scope& scope) {
  const Level level(*this);
  machine_.budget().work(1);
  offset_ = expression->offset;
  switch (expression->kind) {
    case Expression::Kind::literal: return static_cast<const Literal*>(expression)->value;
    case Expression::Kind::name: return evaluate_name(*static_cast<const Name*>(expression), scope);
    case Expression::Kind::list: return evaluate_list(*static_cast<const ListDisplay*>(expression), scope);
    case Expression::Kind::dict: return evaluate_dict(*static_cast<const DictDisplay*>(expression), scope);
    case Expression::Kind::arithmetic: return evaluate_arithmetic(*static_cast<const OperatorChain*>(expression), scope);
    case Expression::Kind::concatenation: return evaluate_concatenation(*static_cast<const Concatenation*>(expression), scope);
    case Expression::Kind::logical: return evaluate_logical(*static_cast<const Logical*>(expression), scope);
    case Expression::Kind::unary: return evaluate_unary(*static_cast<const Unary*>(expression), scope);
    case Expression::Kind::comparison: return evaluate_comparison(*static_cast<const OperatorChain*>(expression), scope);
    case Expression::Kind::conditional: return evaluate_conditional(*static_cast<const Conditional*>(expression), scope);
    case Expression::Kind::postfix: {
      const auto& postfix = *static_cast<const Postfix*>(expression);
      return follow(evaluate(postfix.base, scope), postfix.links, scope);
    }
  }
  return {};
}

Value Evaluator::evaluate_name(const Name& name, const Scope& scope) const {
  for (const Scope* each = &scope; each->parent; each = each->parent) {
    machine_.budget().work(each->size / 8);
    if (const Value* found = each->find(name.id)) return *found;
  }
  return globals_[name.id];
}

Value Evaluator::evaluate_list(const ListDisplay& display, Scope& scope) {
  List* list = machine_.new_list(display.items.size());
  for (const ExpressionRef item : display.items) list->append(machine_.arena, evaluate(item, scope));
  return Value::of(list, display.type);
}

Value Evaluator::evaluate_dict(const DictDisplay& display, Scope& scope) {
  Dict* dict = machine_.arena.make<Dict>();
  for (std::size_t i = 0; i < display.keys.size(); ++i) {
    const Value key = evaluate(display.keys[i], scope);
    dict->set(machine_.arena, key, evaluate(display.values[i], scope));
  }
  return Value::of(dict);
}

Value Evaluator::evaluate_arithmetic(const OperatorChain& chain, Scope& scope) {
  Value value = evaluate(chain.first, scope);
  for (std::size_t i = 0; i < chain.rest.size(); ++i) {
    const Value right = evaluate(chain.rest[i], scope);
    value = combine(machine_, chain.operators[i], value, right);
  }
  return value;
}

Value Evaluator::evaluate_comparison(const OperatorChain& chain, Scope& scope) {
  Value left = evaluate(chain.first, scope);
  for (std::size_t i = 0; i < chain.rest.size(); ++i) {
    const Value right = evaluate(chain.rest[i], scope);
    if (!holds(machine_, chain.operators[i], left, right)) return Value::of(false);
    left = right;
  }
  return Value::of(true);
}

Value Evaluator::evaluate_concatenation(const Concatenation& concatenation, Scope& scope) {
  TextRef text = Text::flat(machine_.arena, {}, Origin::template_text);
  for (const ExpressionRef part : concatenation.parts) print(printed(machine_, evaluate(part, scope)), text);
  return Value::of(text);
}

Value Evaluator::evaluate_logical(const Logical& logical, Scope& scope) {
  Value value;
  for (const ExpressionRef part : logical.parts) {
    value = evaluate(part, scope);
    if (machine_.truth(value) == (logical.op == Operator::logical_or)) break;
  }
  return value;
}

Value Evaluator::evaluate_unary(const Unary& unary, Scope& scope) {
  const Value operand = evaluate(unary.operand, scope);
  return unary.op == Operator::logical_not ? Value::of(!machine_.truth(operand)) : with_sign(unary.op, operand);
}

Value Evaluator::evaluate_conditional(const Conditional& conditional, Scope& scope) {
  const bool holds = machine_.truth(evaluate(conditional.condition, scope));
  const ExpressionRef chosen = holds ? conditional.then : conditional.otherwise;
  return chosen ? evaluate(chosen, scope) : Value{};
}

Value Evaluator::follow(Value value, Links links, Scope& scope) {
  for (const Link& link : links) {
    machine_.budget().work(1);
    value = follow_one(value, link, scope);
  }
  return value;
}

Value Evaluator::follow_one(const Value& value, const Link& link, Scope& scope) {
  switch (link.kind) {
    case Link::Kind::attribute: offset_ = link.offset; return machine_.attribute(value, link.name);
    case Link::Kind::index:
    case Link::Kind::slice: return follow_index(value, link, scope);
    default: break;
  }
  if (link.kind == Link::Kind::filter && !link.filter) fail(Trouble::undefined, "there is no filter '" + std::string(machine_.bytes(link.name)) + "'");
  if (link.kind == Link::Kind::test && !link.test) fail(Trouble::undefined, "there is no test '" + std::string(machine_.bytes(link.name)) + "'");
  const Arguments with = arguments(link.arguments, scope);
  offset_ = link.offset;
  if (link.kind == Link::Kind::call) return call(value, with);
  if (link.kind == Link::Kind::filter) return link.filter->apply(machine_, value, with);
  return Value::of(link.test->holds(machine_, value, with) != link.negated);
}

Value Evaluator::follow_index(const Value& value, const Link& link, Scope& scope) {
  Value parts[3] = {Value::none(), Value::none(), Value::none()};
  for (int i = 0; i < 3; ++i) {
    if (link.index[i]) parts[i] = evaluate(link.index[i], scope);
  }
  offset_ = link.offset;
  if (link.kind == Link::Kind::index) return machine_.element(value, parts[0]);
  return machine_.slice(value, parts[0], parts[1], parts[2]);
}

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
  if (calls_ == machine_.budget().limits().calls) fail(Trouble::limit, "macros call each other more deeply than the limit allows");
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
    const auto named = std::find_if(with.named.begin(), with.named.end(), [&](const auto& each) {
      return each.first == name_of(parameter.id);
    });
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
  for (std::size_t i = macro.parameters.size(); i < with.positional.size(); ++i) more->append(machine_.arena, with.positional[i]);
  if (macro.takes_more_positional) scope.set(machine_.arena, varargs_id_, Value::of(more, Type::tuple));
  if (!macro.takes_more_positional && !more->empty()) fail(Trouble::type, "a macro is given too many arguments");

  Dict* named = machine_.arena.make<Dict>();
  Value caller = macro.takes_caller ? Value::missing(syntax_.names[caller_id_]) : Value{};
  for (const auto& [name, value] : with.named) {
    machine_.budget().work(1 + macro.parameters.size() / 8);
    const bool is_parameter = std::any_of(macro.parameters.begin(), macro.parameters.end(), [&, wanted = name](const auto& each) {
      return name_of(each.id) == wanted;
    });
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
  if (calls_ == machine_.budget().limits().calls) fail(Trouble::limit, "a loop calls itself more deeply than the limit allows");
  ++calls_;
  TextRef out = Text::flat(machine_.arena, {}, Origin::template_text);
  loop_over(*loop.statement, bound[0], loop.depth + 1, *loop.scope, out);
  --calls_;
  return Value::of(out);
}

}  // namespace inlay::text::jinja

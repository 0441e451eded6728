// Statements.
#include <algorithm>

#include "text/jinja_evaluate.hpp"
#include "text/jinja_evaluate_level.hpp"
#include "text/jinja_print.hpp"

namespace inlay::text::jinja {

const Value* Scope::find(NameId id) const {
  for (std::uint32_t i = 0; i < size; ++i) {
    if (variables[i].id == id) return &variables[i].value;
  }
  return nullptr;
}

void Scope::set(Arena& arena, NameId id, const Value& value) {
  arena.budget().work(1 + size / 8);
  if (const Value* present = find(id)) {
    *const_cast<Value*>(present) = value;
    return;
  }
  if (size == capacity) {
    const std::uint32_t larger = std::max(4u, 2 * capacity);
    auto* moved = arena.array<Variable>(larger);
    std::copy(variables, variables + size, moved);
    variables = moved;
    capacity = larger;
  }
  variables[size++] = {id, value};
}

TextRef Evaluator::run() {
  TextRef out = Text::flat(machine_.arena, {}, Origin::template_text);
  Scope top;
  run_block(syntax_.body, top, out);
  return out;
}

Evaluator::Flow Evaluator::run_block(Block block, Scope& scope, TextRef& out) {
  const Level level(*this);
  for (const StatementRef statement : block) {
    machine_.budget().work(1);
    if (const Flow flow = run_statement(*statement, scope, out); flow != Flow::onward) return flow;
  }
  return Flow::onward;
}

Evaluator::Flow Evaluator::run_statement(const Statement& statement, Scope& scope, TextRef& out) {
  offset_ = statement.offset;
  switch (statement.kind) {
    case Statement::Kind::text: print(static_cast<const TextStatement&>(statement).text, out); break;
    case Statement::Kind::print:
      print(printed(machine_, evaluate(static_cast<const Print&>(statement).value, scope)), out);
      break;
    case Statement::Kind::condition: return run_condition(static_cast<const Condition&>(statement), scope, out);
    case Statement::Kind::loop: return run_loop(static_cast<const Loop&>(statement), scope, out);
    case Statement::Kind::set: {
      const auto& set = static_cast<const Set&>(statement);
      assign(set.target, evaluate(set.value, scope), scope);
      break;
    }
    case Statement::Kind::set_block: {
      const auto& set = static_cast<const SetBlock&>(statement);
      assign(set.target, follow(Value::of(captured(set.body, scope)), set.filters, scope), scope);
      break;
    }
    case Statement::Kind::macro: define(static_cast<const Macro&>(statement), scope); break;
    case Statement::Kind::call_block: run_call_block(static_cast<const CallBlock&>(statement), scope, out); break;
    case Statement::Kind::filter_block: {
      const auto& filter = static_cast<const FilterBlock&>(statement);
      print(printed(machine_, follow(Value::of(captured(filter.body, scope)), filter.filters, scope)), out);
      break;
    }
    case Statement::Kind::with: run_with(static_cast<const With&>(statement), scope, out); break;
    case Statement::Kind::scoped: return run_scoped(static_cast<const ScopedBlock&>(statement).body, scope, out);
    case Statement::Kind::leave_loop: return Flow::leave_loop;
    case Statement::Kind::next_item: return Flow::next_item;
  }
  return Flow::onward;
}

void Evaluator::define(const Macro& macro, Scope& scope) {
  Value value = Value::of(Type::macro);
  value.macro = machine_.arena.make<MacroValue>(&macro, &scope);
  assign({.id = macro.id}, value, scope);
}

Evaluator::Flow Evaluator::run_condition(const Condition& condition, Scope& scope, TextRef& out) {
  for (const Branch& branch : condition.branches) {
    machine_.budget().work(1);
    if (machine_.truth(evaluate(branch.condition, scope))) return run_block(branch.body, scope, out);
  }
  return run_block(condition.otherwise, scope, out);
}

// Macros keep the scope they are defined in, so scopes live in the arena.
Evaluator::Flow Evaluator::run_scoped(Block block, Scope& scope, TextRef& out) {
  return run_block(block, *machine_.arena.make<Scope>(&scope), out);
}

TextRef Evaluator::captured(Block block, Scope& scope) {
  TextRef text = Text::flat(machine_.arena, {}, Origin::template_text);
  run_scoped(block, scope, text);
  return text;
}

Evaluator::Flow Evaluator::run_loop(const Loop& loop, Scope& scope, TextRef& out) {
  loop_over(loop, evaluate(loop.items, scope), 1, scope, out);
  return Flow::onward;
}

const List& Evaluator::filtered(const Loop& loop, const List& items, Scope& scope) {
  if (!loop.filter) return items;
  List* kept = machine_.new_list();
  auto* inner = machine_.arena.make<Scope>(&scope);
  for (std::size_t i = 0; i < items.size(); ++i) {
    inner->size = 0;
    assign(loop.target, items[i], *inner);
    if (machine_.truth(evaluate(loop.filter, *inner))) kept->append(machine_.arena, items[i]);
  }
  return *kept;
}

void Evaluator::loop_over(const Loop& loop, const Value& items, int depth, Scope& scope, TextRef& out) {
  const List& all = filtered(loop, machine_.items(items), scope);
  auto* state = machine_.arena.make<LoopState>(&all, std::size_t{0}, depth, &loop, &scope, Value{}, false);
  auto* inner = machine_.arena.make<Scope>(&scope);
  Value loop_value = Value::of(Type::loop);
  loop_value.loop = state;
  bool came_to_an_end = false;  // of the body, once: Jinja runs `else` unless, so after nothing but `continue`, too
  for (; state->index < all.size(); ++state->index) {  // the list may grow meanwhile
    machine_.budget().work(1);
    inner->size = 0;
    inner->set(machine_.arena, loop_id_, loop_value);
    assign(loop.target, all[state->index], *inner);
    const Flow flow = run_block(loop.body, *inner, out);
    came_to_an_end |= flow == Flow::onward;
    if (flow == Flow::leave_loop) break;
  }
  if (!came_to_an_end) run_scoped(loop.otherwise, scope, out);
}

void Evaluator::run_with(const With& with, Scope& scope, TextRef& out) {
  auto* inner = machine_.arena.make<Scope>(&scope);
  for (std::size_t i = 0; i < with.targets.size(); ++i) {
    assign(with.targets[i], evaluate(with.values[i], scope), *inner);
  }
  run_block(with.body, *inner, out);
}

void Evaluator::run_call_block(const CallBlock& block, Scope& scope, TextRef& out) {
  const auto& call_expression = static_cast<const Postfix&>(*block.call);
  const Links before = call_expression.links.first(call_expression.links.size() - 1);
  const Value callee = follow(evaluate(call_expression.base, scope), before, scope);
  Arguments with = arguments(call_expression.links.back().arguments, scope);
  Value caller = Value::of(Type::macro);
  caller.macro = machine_.arena.make<MacroValue>(block.caller, &scope);
  with.named.emplace_back("caller", caller);
  print(printed(machine_, call(callee, with)), out);
}

void Evaluator::assign(const Target& target, const Value& value, Scope& scope) {
  if (target.kind == Target::Kind::tuple) {
    const List& items = machine_.items(value);
    if (items.size() != target.parts.size()) {
      fail(Trouble::type, std::to_string(items.size()) + " values cannot be unpacked into " +
                              std::to_string(target.parts.size()) + " names");
    }
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i], scope);
  } else if (target.kind == Target::Kind::attribute) {
    const Value space = evaluate_name({{}, target.id}, scope);
    if (!space.is(Type::space)) fail(Trouble::type, "only attributes of a namespace() can be set");
    space.dict->set(machine_.arena, Value::of(target.attribute), value);
  } else if (scope.parent) {
    scope.set(machine_.arena, target.id, value);
  } else {
    globals_[target.id] = value;
  }
}

}  // namespace inlay::text::jinja

// Expressions.
#include "text/jinja_evaluate.hpp"

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
    case Expression::Kind::arithmetic:
      return evaluate_arithmetic(*static_cast<const OperatorChain*>(expression), scope);
    case Expression::Kind::concatenation:
      return evaluate_concatenation(*static_cast<const Concatenation*>(expression), scope);
    case Expression::Kind::logical: return evaluate_logical(*static_cast<const Logical*>(expression), scope);
    case Expression::Kind::unary: return evaluate_unary(*static_cast<const Unary*>(expression), scope);
    case Expression::Kind::comparison:
      return evaluate_comparison(*static_cast<const OperatorChain*>(expression), scope);
    case Expression::Kind::conditional:
      return evaluate_conditional(*static_cast<const Conditional*>(expression), scope);
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
  if (link.kind == Link::Kind::filter && !link.filter) {
    fail(Trouble::undefined, "there is no filter '" + std::string(machine_.bytes(link.name)) + "'");
  }
  if (link.kind == Link::Kind::test && !link.test) {
    fail(Trouble::undefined, "there is no test '" + std::string(machine_.bytes(link.name)) + "'");
  }
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

}  // namespace inlay::text::jinja

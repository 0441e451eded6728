// Runs a parsed template: scopes, statements and expressions, with every step and every level counted.
#pragma once

#include "text/jinja_ast.hpp"

namespace inlay::text::jinja {

// The variables of one block. A name that it lacks is looked for in the scope around it.
struct Scope {
  struct Variable {
    NameId id;
    Value value;
  };

  Scope* parent = nullptr;
  Variable* variables = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;

  const Value* find(NameId id) const;
  void set(Arena& arena, NameId id, const Value& value);
};

struct MacroValue {
  const Macro* macro;
  Scope* scope;  // where it was defined
};

class Evaluator {
 public:
  // `globals` has one value for each name of the syntax.
  Evaluator(const Syntax& syntax, const Machine& machine, std::span<Value> globals);

  TextRef run();

  // Where in the source the evaluation stands, for messages.
  std::uint32_t offset() const { return offset_; }

 private:
  enum class Flow : std::uint8_t { onward, leave_loop, next_item };
  class Level;

  // Statements; what they print is joined to `out`.
  Flow run_block(Block block, Scope& scope, TextRef& out);
  Flow run_statement(const Statement& statement, Scope& scope, TextRef& out);
  Flow run_condition(const Condition& condition, Scope& scope, TextRef& out);
  Flow run_loop(const Loop& loop, Scope& scope, TextRef& out);
  Flow run_scoped(Block block, Scope& scope, TextRef& out);
  void loop_over(const Loop& loop, const Value& items, int depth, Scope& scope, TextRef& out);
  const List& filtered(const Loop& loop, const List& items, Scope& scope);
  void define(const Macro& macro, Scope& scope);
  void run_with(const With& with, Scope& scope, TextRef& out);
  void run_call_block(const CallBlock& block, Scope& scope, TextRef& out);
  TextRef captured(Block block, Scope& scope);
  void assign(const Target& target, const Value& value, Scope& scope);
  void print(TextRef text, TextRef& out) { out = Text::join(machine_.arena, out, text); }

  Value evaluate(ExpressionRef expression, Scope& scope);
  Value evaluate_name(const Name& name, const Scope& scope) const;
  Value evaluate_list(const ListDisplay& display, Scope& scope);
  Value evaluate_dict(const DictDisplay& display, Scope& scope);
  Value evaluate_arithmetic(const OperatorChain& chain, Scope& scope);
  Value evaluate_comparison(const OperatorChain& chain, Scope& scope);
  Value evaluate_concatenation(const Concatenation& concatenation, Scope& scope);
  Value evaluate_logical(const Logical& logical, Scope& scope);
  Value evaluate_unary(const Unary& unary, Scope& scope);
  Value evaluate_conditional(const Conditional& conditional, Scope& scope);

  Value follow(Value value, Links links, Scope& scope);
  Value follow_one(const Value& value, const Link& link, Scope& scope);
  Value follow_index(const Value& value, const Link& link, Scope& scope);
  Arguments arguments(const CallArguments& call, Scope& scope);
  Value call(const Value& callee, const Arguments& with);
  Value call_macro(const MacroValue& macro, const Arguments& with);
  void bind(const Macro& macro, const Arguments& with, Scope& scope);
  void bind_rest(const Macro& macro, const Arguments& with, Scope& scope);
  Value call_loop(LoopState& loop, const Arguments& with);
  std::string_view name_of(NameId id) const { return machine_.bytes(syntax_.names[id]); }

  const Syntax& syntax_;
  const Machine& machine_;
  std::span<Value> globals_;
  NameId loop_id_, caller_id_, varargs_id_, kwargs_id_;
  std::uint32_t offset_ = 0;
  int depth_ = 0;
  int calls_ = 0;
};

}  // namespace inlay::text::jinja

// A parsed template: statements and expressions as plain structs in one arena, long chains as arrays instead of depth.
#pragma once

#include <cstdint>
#include <span>

#include "text/jinja_builtins.hpp"
#include "text/jinja_operators.hpp"

namespace inlay::text::jinja {

using NameId = std::uint32_t;  // index into Syntax::names

struct Expression {
  enum class Kind : std::uint8_t {
    literal,
    name,
    list,
    dict,
    arithmetic,
    concatenation,
    logical,
    unary,
    comparison,
    conditional,
    postfix
  };
  Kind kind;
  std::uint32_t offset;  // in the source
};
using ExpressionRef = const Expression*;
using Expressions = std::span<const ExpressionRef>;

struct Literal : Expression {
  Value value;
};

struct Name : Expression {
  NameId id;
};

struct ListDisplay : Expression {
  Type type;  // list or tuple
  Expressions items;
};

struct DictDisplay : Expression {
  Expressions keys, values;
};

// first op0 rest0 op1 rest1 ..., from left to right; for comparisons each pair must hold.
struct OperatorChain : Expression {
  ExpressionRef first;
  std::span<const Operator> operators;
  Expressions rest;
};

// a ~ b ~ c
struct Concatenation : Expression {
  Expressions parts;
};

struct Logical : Expression {
  Operator op;
  Expressions parts;
};

struct Unary : Expression {
  Operator op;
  ExpressionRef operand;
};

struct Conditional : Expression {
  ExpressionRef condition, then, otherwise;  // otherwise may be null
};

struct NamedArgument {
  std::string_view name;
  ExpressionRef value;
};

struct CallArguments {
  Expressions positional;
  std::span<const NamedArgument> named;
  ExpressionRef more_positional;  // *expression, or null
  ExpressionRef more_named;       // **expression, or null
};

// One step after a value: .name [index] [a:b:c] (call) |filter, is test
struct Link {
  enum class Kind : std::uint8_t { attribute, index, slice, call, filter, test };
  Kind kind;
  bool negated = false;  // is not
  std::uint32_t offset = 0;
  TextRef name = nullptr;               // attribute, filter, test
  ExpressionRef index[3] = {};          // index: the first; slice: those that are not null
  CallArguments arguments = {};         // call, filter, test
  const FilterEntry* filter = nullptr;  // null where there is no such filter: an error only if it is reached
  const TestEntry* test = nullptr;
};
using Links = std::span<const Link>;
struct Postfix : Expression {
  ExpressionRef base;
  Links links;
};

struct Target {
  enum class Kind : std::uint8_t { name, attribute, tuple };
  Kind kind = Kind::name;
  NameId id = 0;  // name; attribute: of the namespace
  TextRef attribute = nullptr;
  std::span<const Target> parts = {};  // tuple
};

struct Statement {
  enum class Kind : std::uint8_t {
    text,
    print,
    condition,
    loop,
    set,
    set_block,
    macro,
    call_block,
    filter_block,
    with,
    scoped,
    leave_loop,
    next_item
  };
  Kind kind;
  std::uint32_t offset;
};
using StatementRef = const Statement*;
using Block = std::span<const StatementRef>;

struct TextStatement : Statement {
  TextRef text;
};

struct Print : Statement {
  ExpressionRef value;
};

struct Branch {
  ExpressionRef condition;
  Block body;
};

struct Condition : Statement {
  std::span<const Branch> branches;
  Block otherwise;
};

struct Loop : Statement {
  Target target;
  ExpressionRef items;
  ExpressionRef filter;  // or null
  bool recursive;
  Block body, otherwise;
};

struct Set : Statement {
  Target target;
  ExpressionRef value;
};

struct SetBlock : Statement {
  Target target;
  Links filters;
  Block body;
};

struct With : Statement {
  std::span<const Target> targets;
  Expressions values;
  Block body;
};

struct FilterBlock : Statement {
  Links filters;
  Block body;
};

struct ScopedBlock : Statement {
  Block body;
};

struct MacroParameter {
  NameId id;
  ExpressionRef standard;  // or null
};

// A macro, or what stands between {% call %} and {% endcall %}.
struct Macro : Statement {
  NameId id = 0;
  std::span<const MacroParameter> parameters = {};
  bool takes_more_positional = false, takes_more_named = false, takes_caller = false;  // varargs, kwargs, caller
  Block body = {};
};

struct CallBlock : Statement {
  const Macro* caller;
  ExpressionRef call;
};

struct Syntax {
  Block body;
  std::span<const TextRef> names;
  std::span<const std::string_view> remarks;  // what may not work, here or with transformers
};

}  // namespace inlay::text::jinja

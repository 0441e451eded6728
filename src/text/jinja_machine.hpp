// What a template can do with any value: print it, loop over it, look into it.
#pragma once

#include <ctime>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja_value.hpp"

namespace inlay::text::jinja {

struct Machine {
  Arena& arena;
  std::optional<std::tm> now;  // what strftime_now() sees

  Budget& budget() const { return arena.budget(); }
  std::string_view bytes(TextRef text) const { return text->bytes(arena); }

  Value text(std::string_view bytes, Origin origin = Origin::template_text) const;
  List* new_list(std::size_t size = 0) const;
  Value tuple(std::initializer_list<Value> items) const;
  Value generator(List* items) const;

  bool truth(const Value& value) const;
  std::size_t length(const Value& value) const;
  // The items of anything that can be looped over. A list is returned itself, so that it may grow meanwhile.
  const List& items(const Value& value) const;
  bool contains(const Value& container, const Value& item) const;

  // value.name, value[index], value[begin:end:step]; undefined where there is none. They throw for an undefined value.
  Value attribute(const Value& value, TextRef name) const;
  Value element(const Value& value, const Value& index) const;
  Value slice(const Value& value, const Value& begin, const Value& end, const Value& step) const;
  [[noreturn]] void fail_undefined(const Value& value) const;
};

// The value at a path such as "function.name" or 0, or the value itself where there is no path; `standard`, if given,
// stands for what is undefined.
Value at_path(const Machine& machine, Value value, const Value* path, const Value* standard = nullptr);

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> named;
};

// The arguments of one call by the position of their parameters. Throws Error for too many, unknown or missing ones.
class Bound {
 public:
  Bound(std::string_view callee, const Arguments& arguments, std::initializer_list<std::string_view> parameters,
        std::size_t required = 0);

  bool has(std::size_t parameter) const { return values_[parameter] != nullptr; }
  const Value& operator[](std::size_t parameter) const { return *values_[parameter]; }
  const Value* find(std::size_t parameter) const { return values_[parameter]; }  // null where it is absent

  // The argument as a number, a truth or a text, or what stands for it where it is absent or none.
  std::int64_t whole(std::size_t parameter, std::int64_t standard) const;
  bool truth(const Machine& machine, std::size_t parameter, bool standard = false) const;
  TextRef text(std::size_t parameter) const;  // throws where it is something else
  TextRef text_or_null(std::size_t parameter) const;

 private:
  static constexpr std::size_t most_parameters = 6;

  std::string_view callee_;
  const Value* values_[most_parameters] = {};
};

// The variable `loop` within a {% for %}.
struct LoopState {
  const List* items;
  std::size_t index;
  int depth;
  const struct Loop* statement;
  struct Scope* scope;  // where the loop stands
  Value last_seen;      // by changed()
  bool has_seen;
};

struct BoundMethod {
  Value self;
  const struct MethodEntry* entry;
};

}  // namespace inlay::text::jinja

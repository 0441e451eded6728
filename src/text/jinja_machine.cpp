// Truth, length, items and elements of values, as Python and Jinja define them.
#include "text/jinja_machine.hpp"

#include <algorithm>

#include "text/jinja_builtins.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

List* characters(const Machine& machine, TextRef text) {
  const std::string_view bytes = machine.bytes(text);
  List* list = machine.new_list(code_point_count(bytes));
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = at + code_point_size(bytes[at]);
    list->append(machine.arena, Value::of(Text::slice(machine.arena, text, at, end)));
    at = end;
  }
  return list;
}

List* keys(const Machine& machine, const Dict& dict) {
  List* list = machine.new_list(dict.size());
  for (const auto& entry : dict.entries()) list->append(machine.arena, entry.key);
  return list;
}

List* numbers(const Machine& machine, const Range& range) {
  List* list = machine.new_list(static_cast<std::size_t>(range.count));
  for (std::int64_t i = 0; i < range.count; ++i) list->append(machine.arena, Value::of(range.at(i)));
  return list;
}

List* read_once(const Machine& machine, Generator& generator) {
  return std::exchange(generator.read, true) ? machine.new_list() : generator.items;
}

Value loop_attribute(const LoopState& loop, std::string_view name, TextRef name_text) {
  const std::size_t size = loop.items->size();
  if (name == "index") return Value::size(loop.index + 1);
  if (name == "index0") return Value::size(loop.index);
  if (name == "revindex") return Value::size(size - loop.index);
  if (name == "revindex0") return Value::size(size - loop.index - 1);
  if (name == "first") return Value::of(loop.index == 0);
  if (name == "last") return Value::of(loop.index + 1 == size);
  if (name == "length") return Value::size(size);
  if (name == "depth") return Value::of(std::int64_t{loop.depth});
  if (name == "depth0") return Value::of(std::int64_t{loop.depth - 1});
  if (name == "previtem" && loop.index > 0) return (*loop.items)[loop.index - 1];
  if (name == "nextitem" && loop.index + 1 < size) return (*loop.items)[loop.index + 1];
  return Value::missing(name_text);
}

// An index as Python counts: negative ones from the end. Out of bounds: -1.
std::int64_t position(const Value& index, std::size_t size) {
  const std::int64_t at = index.whole(), count = static_cast<std::int64_t>(size);
  if (at >= count || at < -count) return -1;
  return at < 0 ? at + count : at;
}

}  // namespace

Value Machine::text(std::string_view bytes, Origin origin) const { return Value::of(Text::copy(arena, bytes, origin)); }

List* Machine::new_list(std::size_t size) const {
  List* list = arena.make<List>();
  list->reserve(arena, size);
  return list;
}

Value Machine::tuple(std::initializer_list<Value> items) const {
  List* list = new_list(items.size());
  for (const Value& item : items) list->append(arena, item);
  return Value::of(list, Type::tuple);
}

Value Machine::generator(List* items) const {
  Value value = Value::of(Type::generator);
  value.generator = arena.make<Generator>(items);
  return value;
}

bool Machine::truth(const Value& value) const {
  switch (value.type) {
    case Type::undefined:
    case Type::none: return false;
    case Type::boolean: return value.boolean;
    case Type::integer: return value.integer != 0;
    case Type::real: return value.real != 0;
    case Type::string: return !value.text->empty();
    case Type::list:
    case Type::tuple:
    case Type::view: return !value.items->empty();
    case Type::dict: return value.dict->size() != 0;
    case Type::range: return value.range->count != 0;
    default: return true;
  }
}

std::size_t Machine::length(const Value& value) const {
  switch (value.type) {
    case Type::undefined: return 0;
    case Type::string: budget().work_on_text(value.text->size()); return code_point_count(bytes(value.text));
    case Type::list:
    case Type::tuple:
    case Type::view: return value.items->size();
    case Type::dict: return value.dict->size();
    case Type::range: return static_cast<std::size_t>(value.range->count);
    case Type::loop: return value.loop->items->size();
    default: fail(Trouble::type, "a " + std::string(type_name(value)) + " has no length");
  }
}

const List& Machine::items(const Value& value) const {
  switch (value.type) {
    case Type::undefined: return *new_list();
    case Type::string: return *characters(*this, value.text);
    case Type::list:
    case Type::tuple:
    case Type::view: return *value.items;
    case Type::dict: return *keys(*this, *value.dict);
    case Type::range: return *numbers(*this, *value.range);
    case Type::generator: return *read_once(*this, *value.generator);
    default: fail(Trouble::type, "a " + std::string(type_name(value)) + " cannot be looped over");
  }
}

bool Machine::contains(const Value& container, const Value& item) const {
  if (container.is(Type::string)) {
    if (!item.is(Type::string)) {
      fail(Trouble::type, "'in' looks for strings in a string, not for a " + std::string(type_name(item)));
    }
    return find_text(*this, bytes(container.text), bytes(item.text), 0) != std::string_view::npos;
  }
  if (container.is(Type::dict)) return container.dict->find(arena, item) != nullptr;
  const List& all = items(container);
  return std::any_of(all.begin(), all.end(), [&](const Value& each) { return equal(arena, each, item); });
}

void Machine::fail_undefined(const Value& value) const {
  const std::string name = value.text ? std::string(bytes(value.text).substr(0, 80)) : "a value";
  fail(Trouble::undefined, "'" + name + "' is undefined");
}

Value Machine::attribute(const Value& value, TextRef name) const {
  if (value.is(Type::undefined)) fail_undefined(value);
  const std::string_view word = bytes(name);
  if (const MethodEntry* method = find_method(value.type, word)) {
    Value bound = Value::of(Type::method);
    bound.method = arena.make<BoundMethod>(value, method);
    return bound;
  }
  if (value.is(Type::dict) || value.is(Type::space)) {
    if (const Value* found = value.dict->find(arena, word)) return *found;
  }
  if (value.is(Type::loop)) return loop_attribute(*value.loop, word, name);
  const bool is_group = value.is(Type::tuple) && value.items->size() == 2;  // what groupby gives
  if (is_group && word == "grouper") return (*value.items)[0];
  if (is_group && word == "list") return (*value.items)[1];
  if (word.starts_with("__")) fail(Trouble::forbidden, "a template may not look behind a value's attributes");
  return Value::missing(name);
}

Value Machine::element(const Value& value, const Value& index) const {
  if (value.is(Type::undefined)) fail_undefined(value);
  if (value.is(Type::dict) && !index.has_items() && !index.is(Type::dict)) {
    if (const Value* found = value.dict->find(arena, index)) return *found;
  }
  if (index.is(Type::string)) return attribute(value, index.text);
  if (!index.is_whole()) return {};
  std::int64_t at = -1;
  switch (value.type) {
    case Type::list:
    case Type::tuple:
      at = position(index, value.items->size());
      return at < 0 ? Value{} : (*value.items)[static_cast<std::size_t>(at)];
    case Type::range: at = position(index, length(value)); return at < 0 ? Value{} : Value::of(value.range->at(at));
    case Type::string: {
      at = position(index, length(value));
      if (at < 0) return {};
      Value one = value;
      const std::size_t begin = byte_offset(bytes(value.text), static_cast<std::size_t>(at));
      one.text = Text::slice(arena, value.text, begin, begin + code_point_size(bytes(value.text)[begin]));
      return one;
    }
    default: return {};
  }
}

}  // namespace inlay::text::jinja

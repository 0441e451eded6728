// The methods of lists, dicts and loops, and the one table of all methods.
#include <algorithm>

#include "text/jinja_builtins.hpp"
#include "text/jinja_print.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

Value append(On machine, In self, With with) {
  const Bound bound("append", with, {"object"}, 1);
  self.items->append(machine.arena, bound[0]);
  return Value::none();
}

Value extend(On machine, In self, With with) {
  const Bound bound("extend", with, {"iterable"}, 1);
  const List more = machine.items(bound[0]);
  machine.budget().work(1 + more.size());
  for (std::size_t i = 0; i < more.size(); ++i) self.items->append(machine.arena, more[i]);
  return Value::none();
}

std::size_t position(const List& list, std::int64_t at, bool may_be_end) {
  const auto size = static_cast<std::int64_t>(list.size());
  if (may_be_end) return static_cast<std::size_t>(std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size));
  if (at >= size || at < -size) fail(Trouble::undefined, "pop() is given an index that the list does not have");
  return static_cast<std::size_t>(at < 0 ? at + size : at);
}

Value insert(On machine, In self, With with) {
  const Bound bound("insert", with, {"index", "object"}, 2);
  machine.budget().work(1 + self.items->size() / 8);
  self.items->insert(machine.arena, position(*self.items, bound.whole(0, 0), true), bound[1]);
  return Value::none();
}

Value pop(On machine, In self, With with) {
  const Bound bound("pop", with, {"index"});
  const std::size_t at = position(*self.items, bound.whole(0, -1), false);
  machine.budget().work(1 + self.items->size() / 8);
  const Value popped = (*self.items)[at];
  self.items->erase(at);
  return popped;
}

std::size_t find_item(On machine, const List& list, In wanted) {
  std::size_t at = 0;
  while (at < list.size() && !equal(machine.arena, list[at], wanted)) ++at;
  return at;
}

std::size_t existing_item(On machine, const List& list, In wanted) {
  const std::size_t at = find_item(machine, list, wanted);
  if (at == list.size()) fail(Trouble::undefined, "a list does not have the item that it is asked for");
  return at;
}

Value remove(On machine, In self, With with) {
  const Bound bound("remove", with, {"value"}, 1);
  self.items->erase(existing_item(machine, *self.items, bound[0]));
  return Value::none();
}

Value clear(On, In self, With) {
  self.is(Type::dict) ? self.dict->clear() : self.items->clear();
  return Value::none();
}

Value reverse(On machine, In self, With) {
  machine.budget().work(self.items->size());
  for (std::size_t i = 0; i < self.items->size() / 2; ++i) {
    std::swap((*self.items)[i], (*self.items)[self.items->size() - 1 - i]);
  }
  return Value::none();
}

Value sort(On machine, In self, With with) {
  const Bound bound("sort", with, {"reverse"});
  Arguments as_python = with;
  as_python.named.emplace_back("case_sensitive", Value::of(true));
  const Value sorted = find_filter("sort")->apply(machine, self, as_python);
  *self.items = *sorted.items;
  return Value::none();
}

Value index(On machine, In self, With with) {
  const Bound bound("index", with, {"value"}, 1);
  return Value::size(existing_item(machine, *self.items, bound[0]));
}

Value count(On machine, In self, With with) {
  const Bound bound("count", with, {"value"}, 1);
  return Value::size(static_cast<std::size_t>(std::count_if(
      self.items->begin(), self.items->end(), [&](In item) { return equal(machine.arena, item, bound[0]); })));
}

Value copy_list(On machine, In self, With) { return find_filter("list")->apply(machine, self, {}); }

Value get(On machine, In self, With with) {
  const Bound bound("get", with, {"key", "default"}, 1);
  if (const Value* found = self.dict->find(machine.arena, bound[0])) return *found;
  return bound.has(1) ? bound[1] : Value::none();
}

Value keys(On machine, In self, With) {
  List* list = machine.new_list(self.dict->size());
  for (const auto& entry : self.dict->entries()) list->append(machine.arena, entry.key);
  return Value::of(list, Type::view);
}

Value values(On machine, In self, With) {
  List* list = machine.new_list(self.dict->size());
  for (const auto& entry : self.dict->entries()) list->append(machine.arena, entry.value);
  return Value::of(list, Type::view);
}

Value items(On machine, In self, With) {
  List* list = machine.new_list(self.dict->size());
  for (const auto& [key, value] : self.dict->entries()) list->append(machine.arena, machine.tuple({key, value}));
  return Value::of(list, Type::view);
}

Value pop_key(On machine, In self, With with) {
  const Bound bound("pop", with, {"key", "default"}, 1);
  const Value* found = self.dict->find(machine.arena, bound[0]);
  if (!found && bound.has(1)) return bound[1];
  if (!found) fail(Trouble::undefined, "pop() is given a key that the dict does not have");
  const Value popped = *found;
  self.dict->erase(machine.arena, found);
  return popped;
}

Value update(On machine, In self, With with) {
  if (with.positional.size() > 1) fail(Trouble::type, "update is given too many arguments");
  for (const Value& other : with.positional) {
    if (!other.is(Type::dict)) fail(Trouble::type, "update takes a dict");
    const Dict more = *other.dict;
    for (const auto& [key, value] : more.entries()) self.dict->set(machine.arena, key, value);
  }
  for (const auto& [name, value] : with.named) self.dict->set(machine.arena, machine.text(name), value);
  return Value::none();
}

Value set_standard(On machine, In self, With with) {
  const Bound bound("setdefault", with, {"key", "default"}, 1);
  if (const Value* found = self.dict->find(machine.arena, bound[0])) return *found;
  const Value value = bound.has(1) ? bound[1] : Value::none();
  self.dict->set(machine.arena, bound[0], value);
  return value;
}

Value copy_dict(On machine, In self, With) {
  Dict* copy = machine.arena.make<Dict>();
  for (const auto& [key, value] : self.dict->entries()) copy->set(machine.arena, key, value);
  return Value::of(copy);
}

Value cycle(On, In self, With with) {
  if (with.positional.empty()) fail(Trouble::type, "loop.cycle() needs values to go through");
  return with.positional[self.loop->index % with.positional.size()];
}

Value changed(On machine, In self, With with) {
  List* seen = machine.new_list(with.positional.size());
  for (const Value& value : with.positional) seen->append(machine.arena, value);
  const Value now = Value::of(seen, Type::tuple);
  if (self.loop->has_seen && equal(machine.arena, self.loop->last_seen, now)) return Value::of(false);
  self.loop->last_seen = now;
  self.loop->has_seen = true;
  return Value::of(true);
}

constexpr MethodEntry list_methods[] = {
    {"append", append, true}, {"clear", clear, true},     {"copy", copy_list},      {"count", count},
    {"extend", extend, true}, {"index", index},           {"insert", insert, true}, {"pop", pop, true},
    {"remove", remove, true}, {"reverse", reverse, true}, {"sort", sort, true},
};
constexpr MethodEntry tuple_methods[] = {{"count", count}, {"index", index}};
constexpr MethodEntry dict_methods[] = {
    {"clear", clear, true},
    {"copy", copy_dict},
    {"get", get},
    {"items", items},
    {"keys", keys},
    {"pop", pop_key, true},
    {"setdefault", set_standard, true},
    {"update", update, true},
    {"values", values},
};
constexpr MethodEntry loop_methods[] = {{"changed", changed}, {"cycle", cycle}};

std::span<const MethodEntry> methods_of(Type type) {
  switch (type) {
    case Type::string: return text_methods();
    case Type::list: return list_methods;
    case Type::tuple: return tuple_methods;
    case Type::dict: return dict_methods;
    case Type::loop: return loop_methods;
    default: return {};
  }
}

}  // namespace

const MethodEntry* find_method(Type type, std::string_view name) {
  for (const MethodEntry& entry : methods_of(type)) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace inlay::text::jinja

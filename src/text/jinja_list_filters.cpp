// The filters for lists and dicts.
#include <algorithm>

#include "text/jinja_builtins.hpp"
#include "text/jinja_operators.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

Value first(On machine, In value, With) {
  const List& items = machine.items(value);
  return items.empty() ? Value{} : items[0];
}

Value last(On machine, In value, With) {
  if (value.is(Type::generator)) fail(Trouble::type, "a generator has no last item");
  const List& items = machine.items(value);
  return items.empty() ? Value{} : items[items.size() - 1];
}

Value join(On machine, In value, With with) {
  const Bound bound("join", with, {"d", "attribute"});
  List* texts = machine.new_list();
  for (const Value& item : machine.items(value)) {
    texts->append(machine.arena, Value::of(printed(machine, at_path(machine, item, bound.find(1)))));
  }
  return Value::of(joined(machine, printed(machine, bound.has(0) ? bound[0] : machine.text("")), *texts));
}

List* copied(On machine, const List& items) {
  List* copy = machine.new_list(items.size());
  machine.budget().work(items.size());
  for (const Value& item : items) copy->append(machine.arena, item);
  return copy;
}

Value list(On machine, In value, With) { return Value::of(copied(machine, machine.items(value))); }

Value reverse(On machine, In value, With) {
  List* items = copied(machine, machine.items(value));
  for (std::size_t i = 0; i < items->size() / 2; ++i) std::swap((*items)[i], (*items)[items->size() - 1 - i]);
  if (!value.is(Type::string)) return machine.generator(items);
  return Value::of(joined(machine, Text::flat(machine.arena, {}, Origin::template_text), *items));
}

Value items(On machine, In value, With) {
  List* pairs = machine.new_list();
  if (value.is(Type::undefined)) return machine.generator(pairs);
  if (!value.is(Type::dict)) {
    fail(Trouble::type, "items takes a dict, not a value that is " + std::string(type_name(value)));
  }
  for (const auto& [key, each] : value.dict->entries()) pairs->append(machine.arena, machine.tuple({key, each}));
  return machine.generator(pairs);
}

Value sum(On machine, In value, With with) {
  const Bound bound("sum", with, {"attribute", "start"});
  Value total = bound.has(1) ? bound[1] : Value::of(std::int64_t{0});
  for (const Value& item : machine.items(value)) {
    machine.budget().work(1);
    total = combine(machine, Operator::add, total, at_path(machine, item, bound.find(0)));
  }
  return total;
}

Arguments without_first(With with, std::size_t count) {
  return {{with.positional.begin() + static_cast<std::ptrdiff_t>(count), with.positional.end()}, with.named};
}

std::string_view name_at(On machine, With with, std::size_t at, std::string_view what) {
  if (!with.positional[at].is(Type::string)) {
    fail(Trouble::type, "the name of a " + std::string(what) + " must be a string");
  }
  return machine.bytes(with.positional[at].text);
}

Value map_attribute(On machine, In value, With with) {
  const Bound bound("map", with, {"attribute", "default"}, 1);
  List* mapped = machine.new_list();
  for (const Value& item : machine.items(value)) {
    mapped->append(machine.arena, at_path(machine, item, bound.find(0), bound.find(1)));
  }
  return machine.generator(mapped);
}

Value map(On machine, In value, With with) {
  if (!machine.truth(value)) return machine.generator(machine.new_list());
  if (with.positional.empty()) return map_attribute(machine, value, with);
  const FilterEntry* filter = find_filter(name_at(machine, with, 0, "filter"));
  if (!filter) fail(Trouble::undefined, "map names a filter that does not exist");
  const Arguments rest = without_first(with, 1);
  List* mapped = machine.new_list();
  for (const Value& item : machine.items(value)) {
    machine.budget().work(1);
    mapped->append(machine.arena, filter->apply(machine, item, rest));
  }
  return machine.generator(mapped);
}

// select, reject and, looking at an attribute, selectattr, rejectattr.
template <bool keeps, bool by_attribute>
Value selected(On machine, In value, With with) {
  List* kept = machine.new_list();
  if (!machine.truth(value)) return machine.generator(kept);
  constexpr std::size_t test_at = by_attribute ? 1 : 0;
  if (with.positional.size() < test_at) fail(Trouble::type, "selectattr and rejectattr need the name of an attribute");
  const bool has_test = with.positional.size() > test_at;
  const TestEntry* test = has_test ? find_test(name_at(machine, with, test_at, "test")) : nullptr;
  if (has_test && !test) fail(Trouble::undefined, "a filter names a test that does not exist");
  const Arguments rest = has_test ? without_first(with, test_at + 1) : Arguments{};
  for (const Value& item : machine.items(value)) {
    machine.budget().work(1);
    const Value looked_at = by_attribute ? at_path(machine, item, &with.positional[0]) : item;
    const bool passes = test ? test->holds(machine, looked_at, rest) : machine.truth(looked_at);
    if (passes == keeps) kept->append(machine.arena, item);
  }
  return machine.generator(kept);
}

Value batch(On machine, In value, With with) {
  const Bound bound("batch", with, {"linecount", "fill_with"}, 1);
  const std::int64_t size = bound.whole(0, 1);
  if (size < 1) fail(Trouble::type, "batch needs a positive number of items");
  List* batches = machine.new_list();
  List* current = nullptr;
  for (const Value& item : machine.items(value)) {
    if (!current || static_cast<std::int64_t>(current->size()) == size) {
      batches->append(machine.arena, Value::of(current = machine.new_list()));
    }
    current->append(machine.arena, item);
  }
  while (current && bound.has(1) && !bound[1].is(Type::none) && static_cast<std::int64_t>(current->size()) < size) {
    machine.budget().work(1);
    current->append(machine.arena, bound[1]);
  }
  return machine.generator(batches);
}

Value slice(On machine, In value, With with) {
  const Bound bound("slice", with, {"slices", "fill_with"}, 1);
  const List& all = machine.items(value);
  const std::int64_t count = bound.whole(0, 1);
  if (count < 1) fail(Trouble::arithmetic, "slice needs a positive number of slices");
  const auto size = static_cast<std::int64_t>(all.size());
  const std::int64_t shortest = size / count, longer = size % count;
  List* slices = machine.new_list();
  for (std::int64_t i = 0, at = 0; i < count; ++i) {
    machine.budget().work(1);
    List* part = machine.new_list();
    const std::int64_t end = at + shortest + (i < longer);
    for (; at < end; ++at) part->append(machine.arena, all[static_cast<std::size_t>(at)]);
    if (bound.has(1) && !bound[1].is(Type::none) && i >= longer) part->append(machine.arena, bound[1]);
    slices->append(machine.arena, Value::of(part));
  }
  return machine.generator(slices);
}

Value attribute(On machine, In value, With with) {
  const Bound bound("attr", with, {"name"}, 1);
  if (value.is(Type::dict)) return {};
  return machine.attribute(value, bound.text(0));
}

constexpr FilterEntry filters[] = {
    {"attr", attribute},
    {"batch", batch},
    {"first", first},
    {"items", items},
    {"join", join},
    {"last", last},
    {"list", list},
    {"map", map},
    {"reject", selected<false, false>},
    {"rejectattr", selected<false, true>},
    {"reverse", reverse},
    {"select", selected<true, false>},
    {"selectattr", selected<true, true>},
    {"slice", slice},
    {"sum", sum},
};

}  // namespace

std::span<const FilterEntry> list_filters() { return filters; }

}  // namespace inlay::text::jinja

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

// The value at a path such as "function.name" or "0", or the value itself where there is no path.
Value at_path(On machine, Value value, const Value* path, const Value* standard = nullptr) {
  if (!path || path->is(Type::none)) return value;
  if (!path->is(Type::string)) return machine.element(value, *path);
  const List* parts = split(machine, path->text, Text::flat(machine.arena, ".", Origin::template_text), -1, Side::left);
  for (const Value& part : *parts) {
    const std::string_view name = machine.bytes(part.text);
    const bool is_index = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
    std::int64_t index = 0;
    for (const char digit : name.substr(0, is_index ? name.size() : 0)) index = index * 10 + (digit - '0');
    value = machine.element(value, is_index ? Value::of(index) : part);
    if (value.is(Type::undefined) && standard && !standard->is(Type::none)) return *standard;
  }
  return value;
}

Value case_folded(On machine, In value) {
  return value.is(Type::string) ? Value::of(in_case(machine, value.text, Case::lower)) : value;
}

const Value* given(const Bound& bound, std::size_t parameter) { return bound.has(parameter) ? &bound[parameter] : nullptr; }

// The keys that a list is sorted or compared by, one list for each item.
struct Keyed {
  Value key;
  Value item;
};

void sort_by_key(On machine, std::vector<Keyed>& rows, bool descends) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Keyed& a, const Keyed& b) {
    return descends ? compare(machine.arena, b.key, a.key) < 0 : compare(machine.arena, a.key, b.key) < 0;
  });
}

std::vector<Keyed> keyed(On machine, In value, const Value* path, bool case_sensitive, const Value* standard = nullptr) {
  std::vector<Keyed> rows;
  const List& items = machine.items(value);
  machine.budget().take_memory(2 * items.size() * sizeof(Keyed));
  rows.reserve(items.size());
  for (const Value& item : items) {
    const Value key = at_path(machine, item, path, standard);
    rows.push_back({case_sensitive ? key : case_folded(machine, key), item});
  }
  return rows;
}

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
    texts->append(machine.arena, Value::of(printed(machine, at_path(machine, item, given(bound, 1)))));
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
  if (!value.is(Type::dict)) fail(Trouble::type, "items takes a dict, not a value that is " + std::string(type_name(value)));
  for (const auto& [key, each] : value.dict->entries()) pairs->append(machine.arena, machine.tuple({key, each}));
  return machine.generator(pairs);
}

Value unkeyed(On machine, const std::vector<Keyed>& rows) {
  List* list = machine.new_list(rows.size());
  for (const Keyed& row : rows) list->append(machine.arena, row.item);
  return Value::of(list);
}

Value sort_dict(On machine, In value, With with) {
  const Bound bound("dictsort", with, {"case_sensitive", "by", "reverse"});
  if (!value.is(Type::dict)) fail(Trouble::type, "dictsort takes a dict, not a value that is " + std::string(type_name(value)));
  const std::string_view by = bound.has(1) ? machine.bytes(bound.text(1)) : "key";
  if (by != "key" && by != "value") fail(Trouble::type, "dictsort sorts by 'key' or by 'value'");
  std::vector<Keyed> rows;
  for (const auto& [key, each] : value.dict->entries()) {
    const Value chosen = by == "key" ? key : each;
    rows.push_back({bound.truth(machine, 0) ? chosen : case_folded(machine, chosen), machine.tuple({key, each})});
  }
  sort_by_key(machine, rows, bound.truth(machine, 2));
  return unkeyed(machine, rows);
}

// By several attributes, "a,b": from the last to the first, as the sort is stable.
Value sort(On machine, In value, With with) {
  const Bound bound("sort", with, {"reverse", "case_sensitive", "attribute"});
  Value sorted = list(machine, value, {});
  const bool by_names = bound.has(2) && bound[2].is(Type::string);
  const TextRef comma = Text::flat(machine.arena, ",", Origin::template_text);
  const List* paths = by_names ? split(machine, bound[2].text, comma, -1, Side::left) : machine.new_list();
  for (std::size_t i = std::max<std::size_t>(paths->size(), 1); i-- > 0;) {
    auto rows = keyed(machine, sorted, by_names ? &(*paths)[i] : given(bound, 2), bound.truth(machine, 1));
    sort_by_key(machine, rows, bound.truth(machine, 0));
    sorted = unkeyed(machine, rows);
  }
  return sorted;
}

Value unique(On machine, In value, With with) {
  const Bound bound("unique", with, {"case_sensitive", "attribute"});
  Dict* seen = machine.arena.make<Dict>();
  List* kept = machine.new_list();
  for (const Keyed& row : keyed(machine, value, given(bound, 1), bound.truth(machine, 0))) {
    if (seen->find(machine.arena, row.key)) continue;
    seen->set(machine.arena, row.key, Value::none());
    kept->append(machine.arena, row.item);
  }
  return machine.generator(kept);
}

template <int direction>
Value extreme(On machine, In value, With with) {
  const Bound bound(direction < 0 ? "min" : "max", with, {"case_sensitive", "attribute"});
  const auto rows = keyed(machine, value, given(bound, 1), bound.truth(machine, 0));
  if (rows.empty()) return {};
  const Keyed* best = &rows[0];
  for (const Keyed& row : rows) {
    if (direction * compare(machine.arena, row.key, best->key) > 0) best = &row;
  }
  return best->item;
}

Value sum(On machine, In value, With with) {
  const Bound bound("sum", with, {"attribute", "start"});
  Value total = bound.has(1) ? bound[1] : Value::of(std::int64_t{0});
  for (const Value& item : machine.items(value)) {
    machine.budget().work(1);
    total = combine(machine, Operator::add, total, at_path(machine, item, given(bound, 0)));
  }
  return total;
}

Arguments without_first(With with, std::size_t count) {
  return {{with.positional.begin() + static_cast<std::ptrdiff_t>(count), with.positional.end()}, with.named};
}

std::string_view name_at(On machine, With with, std::size_t at, std::string_view what) {
  if (!with.positional[at].is(Type::string)) fail(Trouble::type, "the name of a " + std::string(what) + " must be a string");
  return machine.bytes(with.positional[at].text);
}

Value map_attribute(On machine, In value, With with) {
  const Bound bound("map", with, {"attribute", "default"}, 1);
  List* mapped = machine.new_list();
  for (const Value& item : machine.items(value)) {
    mapped->append(machine.arena, at_path(machine, item, given(bound, 0), given(bound, 1)));
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

Value group_by(On machine, In value, With with) {
  const Bound bound("groupby", with, {"attribute", "default", "case_sensitive"}, 1);
  const bool case_sensitive = bound.truth(machine, 2);
  auto rows = keyed(machine, value, given(bound, 0), case_sensitive, given(bound, 1));
  sort_by_key(machine, rows, false);
  List* groups = machine.new_list();
  for (std::size_t i = 0; i < rows.size();) {
    List* members = machine.new_list();
    const Value name = at_path(machine, rows[i].item, given(bound, 0), given(bound, 1));
    const Value key = rows[i].key;
    for (; i < rows.size() && equal(machine.arena, rows[i].key, key); ++i) members->append(machine.arena, rows[i].item);
    groups->append(machine.arena, machine.tuple({name, Value::of(members)}));
  }
  return Value::of(groups);
}

Value attribute(On machine, In value, With with) {
  const Bound bound("attr", with, {"name"}, 1);
  if (value.is(Type::dict)) return {};
  return machine.attribute(value, bound.text(0));
}

constexpr FilterEntry filters[] = {
    {"attr", attribute},
    {"batch", batch},
    {"dictsort", sort_dict},
    {"first", first},
    {"groupby", group_by},
    {"items", items},
    {"join", join},
    {"last", last},
    {"list", list},
    {"map", map},
    {"max", extreme<1>},
    {"min", extreme<-1>},
    {"reject", selected<false, false>},
    {"rejectattr", selected<false, true>},
    {"reverse", reverse},
    {"select", selected<true, false>},
    {"selectattr", selected<true, true>},
    {"slice", slice},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};

}  // namespace

std::span<const FilterEntry> list_filters() { return filters; }

}  // namespace inlay::text::jinja

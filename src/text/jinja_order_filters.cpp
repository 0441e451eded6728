// The filters that sort, compare and group.
#include <algorithm>

#include "text/jinja_builtins.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

Value case_folded(On machine, In value) {
  return value.is(Type::string) ? Value::of(in_case(machine, value.text, Case::lower)) : value;
}

// An item, and what it is sorted or compared by.
struct Keyed {
  Value key;
  Value item;
};

void sort_by_key(On machine, std::vector<Keyed>& rows, bool descends) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Keyed& a, const Keyed& b) {
    return descends ? compare(machine.arena, b.key, a.key) < 0 : compare(machine.arena, a.key, b.key) < 0;
  });
}

std::vector<Keyed> keyed(On machine, In value, const Value* path, bool case_sensitive,
                         const Value* standard = nullptr) {
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

Value unkeyed(On machine, const std::vector<Keyed>& rows) {
  List* list = machine.new_list(rows.size());
  for (const Keyed& row : rows) list->append(machine.arena, row.item);
  return Value::of(list);
}

Value sort_dict(On machine, In value, With with) {
  const Bound bound("dictsort", with, {"case_sensitive", "by", "reverse"});
  if (!value.is(Type::dict)) {
    fail(Trouble::type, "dictsort takes a dict, not a value that is " + std::string(type_name(value)));
  }
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

// By several attributes, "a,b". What is sorted by is a list even of one, as in Jinja: equal ones need no order.
Value sort(On machine, In value, With with) {
  const Bound bound("sort", with, {"reverse", "case_sensitive", "attribute"});
  const bool by_names = bound.has(2) && bound[2].is(Type::string);
  const TextRef comma = Text::flat(machine.arena, ",", Origin::template_text);
  const List* paths = by_names ? split(machine, bound[2].text, comma, -1, Side::left) : machine.new_list();
  auto rows = keyed(machine, value, nullptr, true);
  for (Keyed& row : rows) {
    List* keys = machine.new_list();
    for (std::size_t i = 0; i < std::max<std::size_t>(paths->size(), 1); ++i) {
      const Value key = at_path(machine, row.item, by_names ? &(*paths)[i] : bound.find(2), nullptr);
      keys->append(machine.arena, bound.truth(machine, 1) ? key : case_folded(machine, key));
    }
    row.key = Value::of(keys);
  }
  sort_by_key(machine, rows, bound.truth(machine, 0));
  return unkeyed(machine, rows);
}

Value unique(On machine, In value, With with) {
  const Bound bound("unique", with, {"case_sensitive", "attribute"});
  Dict* seen = machine.arena.make<Dict>();
  List* kept = machine.new_list();
  for (const Keyed& row : keyed(machine, value, bound.find(1), bound.truth(machine, 0))) {
    if (seen->find(machine.arena, row.key)) continue;
    seen->set(machine.arena, row.key, Value::none());
    kept->append(machine.arena, row.item);
  }
  return machine.generator(kept);
}

template <int direction>
Value extreme(On machine, In value, With with) {
  const Bound bound(direction < 0 ? "min" : "max", with, {"case_sensitive", "attribute"});
  const auto rows = keyed(machine, value, bound.find(1), bound.truth(machine, 0));
  if (rows.empty()) return {};
  const Keyed* best = &rows[0];
  for (const Keyed& row : rows) {
    if (direction * compare(machine.arena, row.key, best->key) > 0) best = &row;
  }
  return best->item;
}

Value group_by(On machine, In value, With with) {
  const Bound bound("groupby", with, {"attribute", "default", "case_sensitive"}, 1);
  const bool case_sensitive = bound.truth(machine, 2);
  auto rows = keyed(machine, value, bound.find(0), case_sensitive, bound.find(1));
  sort_by_key(machine, rows, false);
  List* groups = machine.new_list();
  for (std::size_t i = 0; i < rows.size();) {
    List* members = machine.new_list();
    const Value name = at_path(machine, rows[i].item, bound.find(0), bound.find(1));
    const Value key = rows[i].key;
    for (; i < rows.size() && equal(machine.arena, rows[i].key, key); ++i) members->append(machine.arena, rows[i].item);
    groups->append(machine.arena, machine.tuple({name, Value::of(members)}));
  }
  return Value::of(groups);
}

constexpr FilterEntry filters[] = {
    {"dictsort", sort_dict}, {"groupby", group_by}, {"max", extreme<1>},
    {"min", extreme<-1>},    {"sort", sort},        {"unique", unique},
};

}  // namespace

std::span<const FilterEntry> order_filters() { return filters; }

}  // namespace inlay::text::jinja

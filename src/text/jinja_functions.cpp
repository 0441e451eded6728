// The functions that every template can call.
#include <string>

#include "text/jinja_builtins.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_time.hpp"

namespace inlay::text::jinja {
namespace {

using With = const Arguments&;
using On = const Machine&;

void add_pairs(On machine, Dict& dict, With with, std::string_view callee) {
  if (with.positional.size() > 1) fail(Trouble::type, std::string(callee) + "() is given too many arguments");
  for (const Value& source : with.positional) {
    if (source.is(Type::dict)) {
      for (const auto& [key, value] : source.dict->entries()) dict.set(machine.arena, key, value);
      continue;
    }
    for (const Value& pair : machine.items(source)) {
      const List& both = machine.items(pair);
      if (both.size() != 2) fail(Trouble::type, std::string(callee) + "() takes a dict or pairs");
      dict.set(machine.arena, both[0], both[1]);
    }
  }
  for (const auto& [name, value] : with.named) dict.set(machine.arena, machine.text(name), value);
}

Value make_space(On machine, With with) {
  Dict* dict = machine.arena.make<Dict>();
  add_pairs(machine, *dict, with, "namespace");
  return Value::of(dict, Type::space);
}

Value make_dict(On machine, With with) {
  Dict* dict = machine.arena.make<Dict>();
  add_pairs(machine, *dict, with, "dict");
  return Value::of(dict);
}

Value make_range(On machine, With with) {
  const auto& arguments = with.positional;
  if (arguments.empty() || arguments.size() > 3 || !with.named.empty()) {
    fail(Trouble::type, "range() takes one to three integers");
  }
  for (const Value& each : arguments) {
    if (!each.is_whole()) {
      fail(each.is(Type::undefined) ? Trouble::undefined : Trouble::type,
           "range() takes integers, not a value that is " + std::string(type_name(each)));
    }
  }
  const std::int64_t start = arguments.size() > 1 ? arguments[0].whole() : 0;
  const std::int64_t stop = arguments[arguments.size() > 1 ? 1 : 0].whole();
  const std::int64_t step = arguments.size() > 2 ? arguments[2].whole() : 1;
  if (step == 0) fail(Trouble::arithmetic, "the step of range() is zero");
  // In unsigned arithmetic, as the distance may be larger than any signed number.
  const bool rises = step > 0;
  const auto low = static_cast<std::uint64_t>(rises ? start : stop),
             high = static_cast<std::uint64_t>(rises ? stop : start);
  const std::uint64_t pace = rises ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const bool is_empty = rises ? start >= stop : start <= stop;
  const std::uint64_t count = is_empty ? 0 : (high - low - 1) / pace + 1;
  if (count > machine.budget().limits().range) fail(Trouble::limit, "range() has more items than the limit allows");
  Value value = Value::of(Type::range);
  value.range = machine.arena.make<Range>(start, stop, step, static_cast<std::int64_t>(count));
  return value;
}

Value raise(On machine, With with) {
  const Bound bound("raise_exception", with, {"message"}, 1);
  fail(Trouble::raised, std::string(machine.bytes(printed(machine, bound[0]))));
}

Value time_text(On machine, With with) {
  const Bound bound("strftime_now", with, {"format"}, 1);
  if (!machine.now) fail(Trouble::input, "the template asks for the time, and the caller gave none");
  const std::tm& now = *machine.now;
  if (now.tm_mon < 0 || now.tm_mon > 11 || now.tm_year < -1899 || now.tm_year > 8099) {
    fail(Trouble::input, "the caller's time is not a date");
  }
  return machine.text(formatted_time(now, machine.bytes(bound.text(0))));
}

constexpr FunctionEntry functions[] = {
    {"dict", make_dict},   {"namespace", make_space},   {"raise_exception", raise},
    {"range", make_range}, {"strftime_now", time_text},
};

}  // namespace

const FunctionEntry* find_function(std::string_view name) {
  for (const FunctionEntry& entry : functions) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace inlay::text::jinja

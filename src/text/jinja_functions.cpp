// The functions that every template can call.
#include <algorithm>
#include <array>
#include <string>

#include "text/jinja_builtins.hpp"
#include "text/jinja_print.hpp"

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
      fail(each.is(Type::undefined) ? Trouble::undefined : Trouble::type, "range() takes integers, not a value that is " +
                                                                              std::string(type_name(each)));
    }
  }
  const std::int64_t start = arguments.size() > 1 ? arguments[0].whole() : 0;
  const std::int64_t stop = arguments[arguments.size() > 1 ? 1 : 0].whole();
  const std::int64_t step = arguments.size() > 2 ? arguments[2].whole() : 1;
  if (step == 0) fail(Trouble::arithmetic, "the step of range() is zero");
  // In unsigned arithmetic, as the distance may be larger than any signed number.
  const bool rises = step > 0;
  const auto low = static_cast<std::uint64_t>(rises ? start : stop), high = static_cast<std::uint64_t>(rises ? stop : start);
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

std::string two_digits(int number, char filling = '0') {
  std::string digits = std::to_string(number);
  return digits.size() < 2 ? filling + digits : digits;
}

constexpr std::array<std::string_view, 7> days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months = {"January", "February", "March",     "April",   "May",      "June",
                                                     "July",    "August",   "September", "October", "November", "December"};

int day_of_year(const std::tm& time) {
  static constexpr int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int year = time.tm_year + 1900;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return before[time.tm_mon] + time.tm_mday + (is_leap && time.tm_mon > 1);
}

// Sunday is 0. By the number of days since an arbitrary Sunday.
int day_of_week(const std::tm& time) {
  const int last_year = time.tm_year + 1899;
  return (last_year * 365 + last_year / 4 - last_year / 100 + last_year / 400 + day_of_year(time)) % 7;
}

// One letter of strftime, in the C locale.
std::string time_part(const std::tm& time, char letter) {
  const int year = time.tm_year + 1900, hour12 = time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12;
  const std::string_view day = days[static_cast<std::size_t>(day_of_week(time))];
  const std::string_view month = months[static_cast<std::size_t>(time.tm_mon)];
  const auto several = [&](std::string_view letters) {
    std::string text;
    for (const char each : letters) text += each >= 'A' ? time_part(time, each) : std::string(1, each);
    return text;
  };
  switch (letter) {
    case 'a': return std::string(day.substr(0, 3));
    case 'A': return std::string(day);
    case 'b':
    case 'h': return std::string(month.substr(0, 3));
    case 'B': return std::string(month);
    case 'c': return several("a b e H:M:S Y");
    case 'C': return two_digits(year / 100);
    case 'd': return two_digits(time.tm_mday);
    case 'D':
    case 'x': return several("m/d/y");
    case 'e': return two_digits(time.tm_mday, ' ');
    case 'f': return "000000";
    case 'F': return several("Y-m-d");
    case 'H': return two_digits(time.tm_hour);
    case 'I': return two_digits(hour12);
    case 'j': return std::string(day_of_year(time) < 100, '0') + two_digits(day_of_year(time));
    case 'm': return two_digits(time.tm_mon + 1);
    case 'M': return two_digits(time.tm_min);
    case 'n': return "\n";
    case 'p': return time.tm_hour < 12 ? "AM" : "PM";
    case 'r': return several("I:M:S p");
    case 'R': return several("H:M");
    case 'S': return two_digits(time.tm_sec);
    case 't': return "\t";
    case 'T':
    case 'X': return several("H:M:S");
    case 'u': return std::to_string(day_of_week(time) == 0 ? 7 : day_of_week(time));
    case 'U': return two_digits((day_of_year(time) + 6 - day_of_week(time)) / 7);
    case 'w': return std::to_string(day_of_week(time));
    case 'W': return two_digits((day_of_year(time) + 6 - (day_of_week(time) + 6) % 7) / 7);
    case 'y': return two_digits(year % 100);
    case 'Y': return std::to_string(year);
    case 'z':
    case 'Z': return "";  // the time has no zone
    case '%': return "%";
    default: return {'%', letter};
  }
}

Value time_text(On machine, With with) {
  const Bound bound("strftime_now", with, {"format"}, 1);
  if (!machine.now) fail(Trouble::input, "the template asks for the time, and the caller gave none");
  const std::tm& now = *machine.now;
  if (now.tm_mon < 0 || now.tm_mon > 11 || now.tm_year < -1899 || now.tm_year > 8099) {
    fail(Trouble::input, "the caller's time is not a date");
  }
  TextBuilder result(machine.arena);
  const std::string_view format = machine.bytes(bound.text(0));
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      result.append(format.substr(at, 1), Origin::template_text);
      continue;
    }
    const bool is_short = format[at + 1] == '-' && at + 2 < format.size();  // %-d: without leading zeros
    at += is_short ? 2 : 1;
    std::string part = time_part(now, format[at]);
    if (is_short && part.size() > 1) part.erase(0, std::min(part.find_first_not_of("0 "), part.size() - 1));
    result.append(part, Origin::template_text);
  }
  return Value::of(result.finish());
}

constexpr FunctionEntry functions[] = {
    {"dict", make_dict},       {"namespace", make_space},       {"raise_exception", raise},
    {"range", make_range},     {"strftime_now", time_text},
};

}  // namespace

const FunctionEntry* find_function(std::string_view name) {
  for (const FunctionEntry& entry : functions) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace inlay::text::jinja

// The letters of strftime: names, numbers, and those that stand for several others.
#include "text/jinja_time.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace inlay::text::jinja {
namespace {

constexpr std::array<std::string_view, 7> days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months = {"January",   "February", "March",    "April",
                                                     "May",       "June",     "July",     "August",
                                                     "September", "October",  "November", "December"};

struct Shorthand {
  char letter;
  std::string_view format;
};

constexpr Shorthand shorthands[] = {
    {'c', "%a %b %e %H:%M:%S %Y"}, {'D', "%m/%d/%y"}, {'x', "%m/%d/%y"}, {'F', "%Y-%m-%d"},
    {'r', "%I:%M:%S %p"},          {'R', "%H:%M"},    {'T', "%H:%M:%S"}, {'X', "%H:%M:%S"}};

int day_of_year(const std::tm& time) {
  static constexpr int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int year = time.tm_year + 1900;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return before[time.tm_mon] + time.tm_mday + (is_leap && time.tm_mon > 1);
}

// Sunday is 0. By the number of days since the last day of the year 0, which was one.
int day_of_week(const std::tm& time) {
  const int years = time.tm_year + 1899;
  return (years * 365 + years / 4 - years / 100 + years / 400 + day_of_year(time)) % 7;
}

std::string padded(int number, std::size_t width, char filling = '0') {
  std::string digits = std::to_string(number);
  digits.insert(0, width - std::min(width, digits.size()), filling);
  return digits;
}

// Numbers that need more than a member of the time; empty for other letters.
std::string computed_part(const std::tm& time, char letter) {
  const int day = day_of_year(time), weekday = day_of_week(time), year = time.tm_year + 1900;
  switch (letter) {
    case 'C': return padded(year / 100, 2);
    case 'I': return padded(time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12, 2);
    case 'j': return padded(day, 3);
    case 'u': return std::to_string(weekday == 0 ? 7 : weekday);
    case 'U': return padded((day + 6 - weekday) / 7, 2);
    case 'w': return std::to_string(weekday);
    case 'W': return padded((day + 6 - (weekday + 6) % 7) / 7, 2);
    case 'y': return padded(year % 100, 2);
    case 'Y': return std::to_string(year);
    default: return "";
  }
}

std::string time_part(const std::tm& time, char letter) {
  const std::string_view day = days[static_cast<std::size_t>(day_of_week(time))];
  const std::string_view month = months[static_cast<std::size_t>(time.tm_mon)];
  switch (letter) {
    case 'a': return std::string(day.substr(0, 3));
    case 'A': return std::string(day);
    case 'b':
    case 'h': return std::string(month.substr(0, 3));
    case 'B': return std::string(month);
    case 'd': return padded(time.tm_mday, 2);
    case 'e': return padded(time.tm_mday, 2, ' ');
    case 'f': return "000000";
    case 'H': return padded(time.tm_hour, 2);
    case 'm': return padded(time.tm_mon + 1, 2);
    case 'M': return padded(time.tm_min, 2);
    case 'n': return "\n";
    case 'p': return time.tm_hour < 12 ? "AM" : "PM";
    case 'S': return padded(time.tm_sec, 2);
    case 't': return "\t";
    case 'z':
    case 'Z': return "";  // the time has no zone
    case '%': return "%";
    default: break;
  }
  std::string computed = computed_part(time, letter);
  return computed.empty() ? std::string{'%', letter} : computed;
}

}  // namespace

std::string formatted_time(const std::tm& time, std::string_view format) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      text += format[at];
      continue;
    }
    const bool is_short = format[at + 1] == '-' && at + 2 < format.size();
    at += is_short ? 2 : 1;
    const auto* shorthand = std::find_if(std::begin(shorthands), std::end(shorthands),
                                         [&](const Shorthand& each) { return each.letter == format[at]; });
    // Shorthands stand for letters that are none, so this goes one level deep.
    std::string part =
        shorthand == std::end(shorthands) ? time_part(time, format[at]) : formatted_time(time, shorthand->format);
    if (is_short && part.size() > 1) part.erase(0, std::min(part.find_first_not_of("0 "), part.size() - 1));
    text += part;
  }
  return text;
}

}  // namespace inlay::text::jinja

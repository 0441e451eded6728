// The named formats of strings that a grammar can express, as regular expressions.
#include "text/json_schema_formats.hpp"

#include <fmt/format.h>

namespace inlay::text {
namespace {

constexpr std::string_view leap_year = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";

std::string date() {
  return fmt::format(
      "(?:[0-9]{{4}}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
      "02-(?:0[1-9]|1[0-9]|2[0-8]))|{}-02-29)",
      leap_year);
}

// A leap second ends a day in UTC: the local time before it and the offset must fit. Offsets are quarters of an hour.
std::string leap_second() {
  constexpr int day = 24 * 60;
  std::string hours;
  for (int hour = 0; hour < 24; ++hour) {
    std::string minutes;
    for (int minute = 14; minute < 60; minute += 15) {
      const int ahead = (hour * 60 + minute + 1) % day, behind = (day - ahead) % day;
      minutes += fmt::format("{}{:02}:60(?:\\.[0-9]+)?(?:\\+{:02}:{:02}|-{:02}:{:02}{})", minutes.empty() ? "" : "|",
                             minute, ahead / 60, ahead % 60, behind / 60, behind % 60, ahead == 0 ? "|[Zz]" : "");
    }
    hours += fmt::format("|{:02}:(?:{})", hour, minutes);
  }
  return hours;
}

std::string time() {
  return "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])" +
         leap_second() + ")";
}

constexpr std::string_view ipv4 =
    "(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";

// Eight groups, the last two perhaps as an IPv4 address; or fewer, with "::" for those that are zero.
std::string ipv6() {
  const std::string group = "[0-9A-Fa-f]{1,4}", last = fmt::format("(?:{0}:{0}|{1})", group, ipv4);
  std::string out = fmt::format("(?:(?:{}:){{6}}{}", group, last);
  for (int before = 0; before <= 7; ++before) {
    const int after = 7 - before;
    const std::string head = before == 0 ? "" : fmt::format("{}(?::{}){{{}}}", group, group, before - 1);
    std::string tail = after == 0 ? "" : fmt::format("(?:{}(?::{}){{0,{}}})?", group, group, after - 1);
    if (after >= 2) tail = fmt::format("(?:{}|(?:{}:){{0,{}}}{})", tail, group, after - 2, ipv4);
    out += fmt::format("|{}::{}", head, tail);
  }
  return out + ")";
}

std::string email() {
  const std::string word = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+", label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
  const std::string quoted = "\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\"";
  return fmt::format("(?:{0}(?:\\.{0})*|{1})@(?:{2}(?:\\.{2})*|\\[{3}\\]|\\[IPv6:{4}\\])", word, quoted, label, ipv4,
                     ipv6());
}

// RFC 3986: a scheme, and a path with or without an authority before it.
std::string uri() {
  const std::string name = "[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}", path_character = name + "|[:@]";
  const std::string host =
      fmt::format("(?:\\[(?:{}|v[0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]|(?:{})*)", ipv6(), name);
  const std::string authority = fmt::format("(?:(?:{}|:)*@)?{}(?::[0-9]*)?", name, host);
  const std::string segments = fmt::format("(?:/(?:{})*)*", path_character);
  const std::string rooted = fmt::format("(?:{0})+{1}", path_character, segments);
  return fmt::format("[A-Za-z][A-Za-z0-9+.-]*:(?://{0}{1}|/(?:{2})?|{2})?(?:\\?(?:{3}|[/?])*)?(?:#(?:{3}|[/?])*)?",
                     authority, segments, rooted, path_character);
}

constexpr std::string_view uuid = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";

// ISO 8601 as RFC 3339 has it: units in order, none left out between two, and weeks alone.
constexpr std::string_view duration =
    "P(?:(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
    "(?:T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S))?"
    "|T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)|[0-9]+W)";

// Labels of letters, digits and inner hyphens, up to 63 characters; none that spells a word of another script ("xn--"),
// which is more than a pattern can check.
std::string hostname() {
  const std::string inner = "[A-Za-z0-9-]", outer = "[A-Za-z0-9]";
  const std::string label =
      fmt::format("{0}(?:{0}|{1}(?:{0}(?:{1}{{0,59}}{0})?|-{0}(?:{1}{{0,58}}{0})?))?", outer, inner);
  return fmt::format("{0}(?:\\.{0})*", label);
}

}  // namespace

std::optional<std::string> narrow_format_pattern(std::string_view format) {
  if (format == "hostname") return hostname();
  return std::nullopt;
}

std::optional<std::string> format_pattern(std::string_view format) {
  if (format == "date") return date();
  if (format == "time") return time();
  if (format == "date-time") return date() + "[Tt]" + time();
  if (format == "uuid") return std::string(uuid);
  if (format == "email") return email();
  if (format == "ipv4") return std::string(ipv4);
  if (format == "ipv6") return ipv6();
  if (format == "uri") return uri();
  if (format == "duration") return std::string(duration);
  return std::nullopt;
}

}  // namespace inlay::text

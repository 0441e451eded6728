// The methods of strings.
#include <algorithm>

#include "base/utf8.hpp"
#include "text/jinja_builtins.hpp"
#include "text/jinja_format.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"
#include "text/unicode.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

constexpr std::size_t npos = std::string_view::npos;

Value like(In self, TextRef text) {
  Value result = self;
  result.text = text;
  return result;
}

template <Case wanted>
Value cased(On machine, In self, With) {
  return like(self, in_case(machine, self.text, wanted));
}

template <Side side>
Value strip(On machine, In self, With with) {
  const Bound bound("strip", with, {"chars"});
  return like(self, stripped(machine, self.text, bound.text_or_null(0), side));
}

template <Side side>
Value split_at(On machine, In self, With with) {
  const Bound bound("split", with, {"sep", "maxsplit"});
  return Value::of(split(machine, self.text, bound.text_or_null(0), bound.whole(1, -1), side));
}

Value lines(On machine, In self, With with) {
  const Bound bound("splitlines", with, {"keepends"});
  return Value::of(split_lines(machine, self.text, bound.truth(machine, 0)));
}

// The part of `self` between the code points that the arguments `first` and `first + 1` name.
Value part(On machine, In self, const Bound& bound, std::size_t first) {
  const auto limit = [&](std::size_t at) { return bound.has(at) ? bound[at] : Value::none(); };
  return machine.slice(self, limit(first), limit(first + 1), Value::none());
}

template <bool at_end>
Value touches(On machine, In self, With with) {
  const Bound bound(at_end ? "endswith" : "startswith", with, {"prefix", "start", "end"}, 1);
  const std::string_view text = machine.bytes(part(machine, self, bound, 1).text);
  const auto matches = [&](In wanted) {
    if (!wanted.is(Type::string)) fail(Trouble::type, "startswith and endswith take strings");
    machine.budget().work_on_text(wanted.text->size());
    return at_end ? text.ends_with(machine.bytes(wanted.text)) : text.starts_with(machine.bytes(wanted.text));
  };
  if (!bound[0].is(Type::tuple)) return Value::of(matches(bound[0]));
  return Value::of(std::any_of(bound[0].items->begin(), bound[0].items->end(), matches));
}

Value replace(On machine, In self, With with) {
  const Bound bound("replace", with, {"old", "new", "count"}, 2);
  return like(self, replaced(machine, self.text, bound.text(0), bound.text(1), bound.whole(2, -1)));
}

// Code points before the first (or last) `needle`, or -1.
template <bool last>
std::int64_t found_at(On machine, In self, With with) {
  const Bound bound("find", with, {"sub", "start", "end"}, 1);
  const std::string_view needle = machine.bytes(bound.text(0)), whole = machine.bytes(self.text);
  const std::string_view text = machine.bytes(part(machine, self, bound, 1).text);
  const std::size_t at = last ? find_last_text(machine, text, needle) : find_text(machine, text, needle);
  if (at == npos) return -1;
  machine.budget().work_on_text(whole.size());
  const auto before = text.empty() ? 0 : static_cast<std::size_t>(text.data() - whole.data());
  return static_cast<std::int64_t>(code_point_count(whole.substr(0, before + at)));
}

template <bool last>
Value find(On machine, In self, With with) {
  return Value::of(found_at<last>(machine, self, with));
}

template <bool last>
Value index(On machine, In self, With with) {
  const std::int64_t at = found_at<last>(machine, self, with);
  if (at < 0) fail(Trouble::undefined, "index() does not find what it looks for");
  return Value::of(at);
}

Value count(On machine, In self, With with) {
  const Bound bound("count", with, {"sub"}, 1);
  const std::string_view text = machine.bytes(self.text), needle = machine.bytes(bound.text(0));
  if (needle.empty()) return Value::size(machine.length(self) + 1);
  std::int64_t times = 0;
  for (std::size_t at = find_text(machine, text, needle); at != npos; ++times) {
    at = find_text(machine, text, needle, at + needle.size());
  }
  return Value::of(times);
}

Value join(On machine, In self, With with) {
  const Bound bound("join", with, {"iterable"}, 1);
  const List& items = machine.items(bound[0]);
  const bool all_texts = std::all_of(items.begin(), items.end(), [](In item) { return item.is(Type::string); });
  if (!all_texts) fail(Trouble::type, "join() takes only strings");
  return like(self, joined(machine, self.text, items));
}

Value format(On machine, In self, With with) { return brace_format(machine, self, with); }

template <Side side>
Value justify(On machine, In self, With with) {
  const Bound bound("ljust, rjust and center", with, {"width", "fillchar"}, 1);
  const std::string_view filling = bound.has(1) ? machine.bytes(bound.text(1)) : " ";
  if (code_point_count(filling) != 1) fail(Trouble::type, "a text is filled up with one character");
  return like(self, padded(machine, self.text, bound.whole(0, 0), side, filling));
}

Value zero_fill(On machine, In self, With with) {
  const Bound bound("zfill", with, {"width"}, 1);
  const std::string_view bytes = machine.bytes(self.text);
  const std::size_t sign = bytes.starts_with('-') || bytes.starts_with('+');
  const TextRef digits = Text::slice(machine.arena, self.text, sign, bytes.size());
  const std::int64_t width = bound.whole(0, 0);
  const TextRef filled =
      width > 0 ? padded(machine, digits, width - static_cast<std::int64_t>(sign), Side::left, "0") : digits;
  return like(self, Text::join(machine.arena, Text::slice(machine.arena, self.text, 0, sign), filled));
}

template <bool last>
Value partition(On machine, In self, With with) {
  const Bound bound("partition", with, {"sep"}, 1);
  const std::string_view text = machine.bytes(self.text), separator = machine.bytes(bound.text(0));
  if (separator.empty()) fail(Trouble::type, "partition() has an empty separator");
  const std::size_t at = last ? find_last_text(machine, text, separator) : find_text(machine, text, separator);
  const Value empty = machine.text("");
  if (at == npos) return last ? machine.tuple({empty, empty, self}) : machine.tuple({self, empty, empty});
  return machine.tuple({like(self, Text::slice(machine.arena, self.text, 0, at)), bound[0],
                        like(self, Text::slice(machine.arena, self.text, at + separator.size(), text.size()))});
}

template <bool at_end>
Value remove_affix(On machine, In self, With with) {
  const Bound bound("removeprefix and removesuffix", with, {"affix"}, 1);
  const std::string_view text = machine.bytes(self.text), affix = machine.bytes(bound.text(0));
  if (at_end ? !text.ends_with(affix) : !text.starts_with(affix)) return self;
  const std::size_t begin = at_end ? 0 : affix.size(), end = at_end ? text.size() - affix.size() : text.size();
  return like(self, Text::slice(machine.arena, self.text, begin, end));
}

bool is_digit(char32_t code) { return code >= '0' && code <= '9'; }
// Letters outside of ASCII are told by what they are not.
bool is_letter(char32_t code) {
  const bool is_ascii_letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  return code < 0x80 ? is_ascii_letter : to_lower(code) != upper_case(code) || (code >= 0x3040 && code <= 0xD7AF);
}
bool is_letter_or_digit(char32_t code) { return is_letter(code) || is_digit(code); }

template <bool (*belongs)(char32_t)>
Value consists_of(On machine, In self, With) {
  const std::string_view bytes = machine.bytes(self.text);
  machine.budget().work_on_characters(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += code_point_size(bytes[at])) {
    if (!belongs(base::decode_utf8(bytes.substr(at)).code)) return Value::of(false);
  }
  return Value::of(!bytes.empty());
}

template <char which>
Value has_case(On machine, In self, With) {
  return Value::of(find_test(which == 'u' ? "upper" : "lower")->holds(machine, self, {}));
}

constexpr MethodEntry methods[] = {
    {"capitalize", cased<Case::capitalized>},
    {"casefold", cased<Case::lower>},
    {"center", justify<Side::both>},
    {"count", count},
    {"endswith", touches<true>},
    {"find", find<false>},
    {"format", format},
    {"index", index<false>},
    {"isalnum", consists_of<is_letter_or_digit>},
    {"isalpha", consists_of<is_letter>},
    {"isdecimal", consists_of<is_digit>},
    {"isdigit", consists_of<is_digit>},
    {"islower", has_case<'l'>},
    {"isnumeric", consists_of<is_digit>},
    {"isspace", consists_of<is_space>},
    {"isupper", has_case<'u'>},
    {"join", join},
    {"ljust", justify<Side::right>},
    {"lower", cased<Case::lower>},
    {"lstrip", strip<Side::left>},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"replace", replace},
    {"rfind", find<true>},
    {"rindex", index<true>},
    {"rjust", justify<Side::left>},
    {"rpartition", partition<true>},
    {"rsplit", split_at<Side::right>},
    {"rstrip", strip<Side::right>},
    {"split", split_at<Side::left>},
    {"splitlines", lines},
    {"startswith", touches<false>},
    {"strip", strip<Side::both>},
    {"swapcase", cased<Case::swapped>},
    {"title", cased<Case::title>},
    {"upper", cased<Case::upper>},
    {"zfill", zero_fill},
};

}  // namespace

std::span<const MethodEntry> text_methods() { return methods; }

}  // namespace inlay::text::jinja

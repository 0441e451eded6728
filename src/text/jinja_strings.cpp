// Search, strip, replace, change case and pad, counted as work.
#include "text/jinja_strings.hpp"
#include "text/unicode.hpp"

#include <algorithm>
#include <cstring>

#include "base/utf8.hpp"

namespace inlay::text::jinja {
namespace {

constexpr std::size_t npos = std::string_view::npos;

bool belongs(const Machine& machine, char32_t code, TextRef set) {
  machine.budget().work_on_characters(set ? set->size() : 1);
  if (!set) return is_space(code);
  const std::string_view bytes = machine.bytes(set);
  for (std::size_t at = 0; at < bytes.size(); at += code_point_size(bytes[at])) {
    if (code_at(bytes, at) == code) return true;
  }
  return false;
}

}  // namespace

char32_t code_at(std::string_view text, std::size_t at) { return base::decode_utf8(text.substr(at)).code; }

std::size_t character_before(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && (text[end] & 0xC0) == 0x80);
  return end;
}

std::size_t find_text(const Machine& machine, std::string_view text, std::string_view needle, std::size_t from) {
  if (needle.empty()) return from <= text.size() ? from : npos;
  while (from + needle.size() <= text.size()) {
    const void* hit = std::memchr(text.data() + from, needle[0], text.size() - needle.size() - from + 1);
    const std::size_t at = hit ? static_cast<std::size_t>(static_cast<const char*>(hit) - text.data()) : text.size();
    machine.budget().work_on_text(at - from + (hit ? needle.size() + 16 : 0));
    if (!hit) return npos;
    if (text.substr(at, needle.size()) == needle) return at;
    from = at + 1;
  }
  return npos;
}

std::size_t find_last_text(const Machine& machine, std::string_view text, std::string_view needle) {
  for (std::size_t end = text.size(); end >= needle.size(); --end) {
    const std::size_t at = end - needle.size();
    if (needle.empty() || text[at] == needle[0]) {
      machine.budget().work_on_text(needle.size());
      if (text.substr(at, needle.size()) == needle) return at;
    }
    if (end == 0) break;
  }
  machine.budget().work_on_text(text.size());
  return npos;
}

TextRef stripped(const Machine& machine, TextRef text, TextRef set, Side side) {
  const std::string_view bytes = machine.bytes(text);
  std::size_t begin = 0, end = bytes.size();
  while (side != Side::right && begin < end && belongs(machine, code_at(bytes, begin), set)) {
    begin += code_point_size(bytes[begin]);
  }
  while (side != Side::left && begin < end && belongs(machine, code_at(bytes, character_before(bytes, end)), set)) {
    end = character_before(bytes, end);
  }
  return Text::slice(machine.arena, text, begin, end);
}

TextRef replaced(const Machine& machine, TextRef text, TextRef old, TextRef fresh, std::int64_t most) {
  const std::string_view bytes = machine.bytes(text), needle = machine.bytes(old);
  TextBuilder result(machine.arena);
  std::size_t done = 0, from = 0;
  for (; most != 0; --most) {
    const std::size_t at = find_text(machine, bytes, needle, from);
    if (at == npos) break;
    result.append(text, done, at);
    result.append(fresh);
    done = at + needle.size();
    from = needle.empty() ? (at < bytes.size() ? at + code_point_size(bytes[at]) : npos - 1) : done;
  }
  if (done == 0 && from == 0) return text;
  result.append(text, done, bytes.size());
  return result.finish();
}

TextRef in_case(const Machine& machine, TextRef text, Case wanted) {
  const std::string_view bytes = machine.bytes(text);
  machine.budget().work(bytes.size());
  TextBuilder result(machine.arena);
  bool starts_word = true;
  std::size_t at = 0;
  for (const Run& run : text->runs(machine.arena)) {
    for (; at < std::min<std::size_t>(run.end, bytes.size()); at += code_point_size(bytes[at])) {
      const char32_t code = code_at(bytes, at), lower = to_lower(code), upper = upper_case(code);
      const bool raises =
          wanted == Case::upper || (wanted == Case::swapped ? lower == code : starts_word && wanted != Case::lower);
      if (raises && code == 0xDF) {  // sharp s has no capital
        result.append(wanted == Case::upper || wanted == Case::swapped ? "SS" : "Ss", run.origin);
      } else if (!raises && code == 0x130) {  // a capital i with a dot keeps it
        result.append("i\u0307", run.origin);
      } else {
        std::string changed;
        base::append_utf8(raises ? upper : lower, changed);
        result.append(changed, run.origin);
      }
      const bool is_opening = code < 0x80 && std::string_view("-({[<").find(static_cast<char>(code)) != npos;
      starts_word = wanted == Case::title ? lower == upper : wanted == Case::words && (is_opening || is_space(code));
    }
  }
  return result.finish();
}

TextRef padded(const Machine& machine, TextRef text, std::int64_t width, Side side, std::string_view filling) {
  const std::size_t size = code_point_count(machine.bytes(text));
  machine.budget().work_on_text(text->size());
  if (width <= static_cast<std::int64_t>(size)) return text;
  const std::size_t missing = static_cast<std::size_t>(width) - size;
  if (missing > machine.budget().limits().output) {
    fail(Trouble::limit, "a text of the template grows over the output limit");
  }
  // Python's center() puts the odd one to the left only where the width is odd as well.
  const std::size_t left = side == Side::left    ? missing
                           : side == Side::right ? 0
                                                 : missing / 2 + (missing & static_cast<std::size_t>(width) & 1);
  TextBuilder result(machine.arena);
  const auto fill = [&](std::size_t count) {
    while (count-- > 0) result.append(filling, Origin::template_text);
  };
  fill(left);
  result.append(text);
  fill(missing - left);
  return result.finish();
}

TextRef html_escaped(const Machine& machine, TextRef text) {
  const std::string_view bytes = machine.bytes(text);
  machine.budget().work_on_characters(bytes.size());
  TextBuilder result(machine.arena);
  std::size_t at = 0;
  for (const Run& run : text->runs(machine.arena)) {
    for (; at < std::min<std::size_t>(run.end, bytes.size()); ++at) {
      switch (bytes[at]) {
        case '&': result.append("&amp;", run.origin); break;
        case '<': result.append("&lt;", run.origin); break;
        case '>': result.append("&gt;", run.origin); break;
        case '"': result.append("&#34;", run.origin); break;
        case '\'': result.append("&#39;", run.origin); break;
        default: result.append(bytes.substr(at, 1), run.origin);
      }
    }
  }
  return result.finish();
}

}  // namespace inlay::text::jinja

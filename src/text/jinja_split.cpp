// Texts cut into lists at white space, separators and ends of lines, and put together from lists again.
#include "text/jinja_strings.hpp"

#include <algorithm>

namespace inlay::text::jinja {
namespace {

constexpr std::size_t npos = std::string_view::npos;

std::size_t space_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(code_at(text, at))) at += code_point_size(text[at]);
  return at;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_space(code_at(text, at))) at += code_point_size(text[at]);
  return at;
}

List* split_words(const Machine& machine, TextRef text, std::int64_t most) {
  const std::string_view bytes = machine.bytes(text);
  machine.budget().work_on_characters(bytes.size());
  List* parts = machine.new_list();
  for (std::size_t at = space_end(bytes, 0); at < bytes.size(); at = space_end(bytes, at)) {
    const bool is_last = static_cast<std::int64_t>(parts->size()) == most;
    const std::size_t end = is_last ? bytes.size() : word_end(bytes, at);
    parts->append(machine.arena, Value::of(Text::slice(machine.arena, text, at, end)));
    at = end;
  }
  return parts;
}

List* split_words_from_right(const Machine& machine, TextRef text, std::int64_t most) {
  const std::string_view bytes = machine.bytes(text);
  machine.budget().work_on_characters(bytes.size());
  List* parts = machine.new_list();
  std::size_t end = bytes.size();
  const auto skip = [&](bool spaces) {
    while (end > 0 && is_space(code_at(bytes, character_before(bytes, end))) == spaces) {
      end = character_before(bytes, end);
    }
  };
  for (skip(true); end > 0; skip(true)) {
    const std::size_t word = end;
    if (static_cast<std::int64_t>(parts->size()) == most) {
      end = 0;
    } else {
      skip(false);
    }
    parts->append(machine.arena, Value::of(Text::slice(machine.arena, text, end, word)));
  }
  return parts;
}

void reverse(List& list) {
  for (std::size_t i = 0; i < list.size() / 2; ++i) std::swap(list[i], list[list.size() - 1 - i]);
}

}  // namespace

List* split(const Machine& machine, TextRef text, TextRef separator, std::int64_t most, Side side) {
  if (most < 0) side = Side::left;
  if (!separator) {
    if (side == Side::left) return split_words(machine, text, most);
    List* words = split_words_from_right(machine, text, most);
    reverse(*words);
    return words;
  }
  if (separator->empty()) fail(Trouble::type, "split() has an empty separator");
  const std::string_view bytes = machine.bytes(text), needle = machine.bytes(separator);
  List* parts = machine.new_list();
  std::size_t begin = 0, end = bytes.size();
  for (; most != 0; --most) {
    const std::size_t at = side == Side::left ? find_text(machine, bytes, needle, begin)
                                              : find_last_text(machine, bytes.substr(0, end), needle);
    if (at == npos) break;
    const bool from_left = side == Side::left;
    parts->append(machine.arena, Value::of(Text::slice(machine.arena, text, from_left ? begin : at + needle.size(),
                                                       from_left ? at : end)));
    (from_left ? begin : end) = from_left ? at + needle.size() : at;
  }
  parts->append(machine.arena, Value::of(Text::slice(machine.arena, text, begin, end)));
  if (side != Side::left) reverse(*parts);
  return parts;
}

List* split_lines(const Machine& machine, TextRef text, bool keeps_ends) {
  const std::string_view bytes = machine.bytes(text);
  machine.budget().work_on_characters(bytes.size());
  List* lines = machine.new_list();
  for (std::size_t begin = 0, at = 0; begin < bytes.size();) {
    std::size_t next = at;
    while (at < bytes.size() && next == at) {
      const char32_t code = code_at(bytes, at);
      const std::size_t size = code_point_size(bytes[at]);
      const bool ends_line = (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
                             code == 0x2028 || code == 0x2029;
      if (ends_line) {
        next = at + (bytes.substr(at, 2) == "\r\n" ? 2 : size);
      } else {
        at += size, next = at;
      }
    }
    lines->append(machine.arena, Value::of(Text::slice(machine.arena, text, begin, keeps_ends ? next : at)));
    begin = at = next;
  }
  return lines;
}

TextRef joined(const Machine& machine, TextRef separator, const List& items) {
  TextRef all = Text::flat(machine.arena, {}, Origin::template_text);
  for (std::size_t i = 0; i < items.size(); ++i) {
    machine.budget().work(2);
    if (i > 0) all = Text::join(machine.arena, all, separator);
    all = Text::join(machine.arena, all, items[i].text);
  }
  return all;
}

}  // namespace inlay::text::jinja

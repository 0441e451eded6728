// Immutable text that knows for each byte where it came from, and that joins without copying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_arena.hpp"
#include "text/template_span.hpp"

namespace inlay::text::jinja {

using Origin = Span::Kind;

// The origin of text made from two: what a person wrote wins over the template, and two people are nobody in
// particular.
Origin mixed(Origin a, Origin b);

// Bytes of one origin, up to `end` within their text.
struct Run {
  std::uint32_t end;
  Origin origin;
};

class Text;
using TextRef = const Text*;

// Either flat bytes with their runs, or two texts to be read one after the other until somebody needs the bytes.
class Text {
 public:
  static TextRef flat(Arena& arena, std::string_view bytes, Origin origin);  // refers to the bytes
  static TextRef copy(Arena& arena, std::string_view bytes, Origin origin);
  static TextRef join(Arena& arena, TextRef left, TextRef right);
  // The bytes from `begin` to `end`, without copying them.
  static TextRef slice(Arena& arena, TextRef text, std::size_t begin, std::size_t end);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view bytes(Arena& arena) const;
  std::span<const Run> runs(Arena& arena) const;
  Origin origin(Arena& arena) const;  // of all runs together

  // The bytes and spans of a whole rendering.
  Rendered write(Arena& arena) const;

 private:
  friend class Arena;
  friend class TextBuilder;
  Text(std::uint32_t size, std::uint32_t run_count) : size_(size), run_count_(run_count) {}

  void flatten(Arena& arena) const;
  std::vector<Run> fill(Arena& arena, char* out) const;

  std::uint32_t size_;
  mutable std::uint32_t run_count_;  // 0: a joint of left and right
  union {
    mutable const char* data_;
    mutable TextRef left_;
  };
  union {
    mutable const Run* runs_;
    mutable TextRef right_;
  };
};

// Writes new text piece by piece; what is copied from a text keeps its origins.
class TextBuilder {
 public:
  explicit TextBuilder(Arena& arena) : arena_(arena) {}

  void append(std::string_view bytes, Origin origin);
  void append(TextRef text) { append(text, 0, text->size()); }
  void append(TextRef text, std::size_t begin, std::size_t end);
  void repeat(char filling, std::size_t count, Origin origin);

  TextRef finish();

 private:
  void flush();
  void add(TextRef text);

  Arena& arena_;
  TextRef done_ = nullptr;
  std::string bytes_;
  std::vector<Run> runs_;
};

// Text is valid UTF-8 here: the template and every input were checked. Positions in it are counted in code points.
std::size_t code_point_count(std::string_view text);
std::size_t code_point_size(char first_byte);
// Where the code point number `index` begins, or the end of the text.
std::size_t byte_offset(std::string_view text, std::size_t index);
bool is_space(char32_t code_point);  // as Python's str.isspace()

}  // namespace inlay::text::jinja

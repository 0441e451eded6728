// Joining, slicing and flattening text with its origins.
#include "text/jinja_text.hpp"

#include <algorithm>
#include <array>

#include "text/unicode.hpp"

namespace inlay::text::jinja {
namespace {

constexpr std::size_t short_text = 128;         // texts up to this size are joined by copying
constexpr std::size_t builder_size = 64 << 10;  // what a builder holds before it hands it to the arena
constexpr std::uint32_t unbounded = UINT32_MAX;

// Runs of texts of a single origin: the end is that of the text.
constexpr std::array<Run, 6> whole = {{{unbounded, Origin::template_text},
                                       {unbounded, Origin::system},
                                       {unbounded, Origin::user},
                                       {unbounded, Origin::assistant},
                                       {unbounded, Origin::tool},
                                       {unbounded, Origin::other}}};

std::uint32_t checked_size(const Arena& arena, std::size_t size) {
  if (size > arena.budget().limits().output) fail(Trouble::limit, "a text of the template grows over the output limit");
  return static_cast<std::uint32_t>(size);
}

}  // namespace

Origin mixed(Origin a, Origin b) {
  if (a == b || b == Origin::template_text) return a;
  return a == Origin::template_text ? b : Origin::other;
}

TextRef Text::flat(Arena& arena, std::string_view bytes, Origin origin) {
  auto* text = arena.make<Text>(Text(checked_size(arena, bytes.size()), 1));
  text->data_ = bytes.data();
  text->runs_ = &whole[static_cast<std::size_t>(origin)];
  return text;
}

TextRef Text::copy(Arena& arena, std::string_view bytes, Origin origin) {
  checked_size(arena, bytes.size());
  return flat(arena, arena.copy(bytes), origin);
}

TextRef Text::join(Arena& arena, TextRef left, TextRef right) {
  if (left->empty()) return right;
  if (right->empty()) return left;
  const std::uint32_t size = checked_size(arena, left->size() + right->size());
  if (size <= short_text) {
    TextBuilder both(arena);
    both.append(left);
    both.append(right);
    return both.finish();
  }
  auto* text = arena.make<Text>(Text(size, 0));
  text->left_ = left;
  text->right_ = right;
  return text;
}

TextRef Text::slice(Arena& arena, TextRef text, std::size_t begin, std::size_t end) {
  if (begin == 0 && end == text->size()) return text;
  const auto runs = text->runs(arena);
  const char* const data = text->bytes(arena).data();
  const auto ends_before = [](const Run& run, std::size_t at) { return run.end <= at; };
  const auto first = std::lower_bound(runs.begin(), runs.end() - 1, begin, ends_before);
  const auto last = std::lower_bound(first, runs.end() - 1, std::max(end, begin + 1) - 1, ends_before);
  if (first == last) return flat(arena, {data + begin, end - begin}, first->origin);

  auto* part =
      arena.make<Text>(Text(static_cast<std::uint32_t>(end - begin), static_cast<std::uint32_t>(last - first + 1)));
  Run* kept = arena.array<Run>(part->run_count_);
  std::transform(first, last + 1, kept, [&](Run run) {
    return Run{static_cast<std::uint32_t>(std::min<std::size_t>(run.end, end) - begin), run.origin};
  });
  part->data_ = data + begin;
  part->runs_ = kept;
  return part;
}

std::string_view Text::bytes(Arena& arena) const {
  if (run_count_ == 0) flatten(arena);
  return {data_, size_};
}

std::span<const Run> Text::runs(Arena& arena) const {
  if (run_count_ == 0) flatten(arena);
  return {runs_, run_count_};
}

Origin Text::origin(Arena& arena) const {
  Origin all = Origin::template_text;
  for (const Run& run : runs(arena)) all = mixed(all, run.origin);
  return all;
}

// Writes all bytes to `out` and returns the runs. It goes from the last flat text to the first: texts are mostly built
// by appending, so that the stack stays short.
std::vector<Run> Text::fill(Arena& arena, char* out) const {
  std::vector<Run> runs;
  std::vector<TextRef> left_to_do{this};
  std::size_t end = size_;
  while (!left_to_do.empty()) {
    TextRef leaf = left_to_do.back();
    left_to_do.pop_back();
    for (; leaf->run_count_ == 0; leaf = leaf->right_) left_to_do.push_back(leaf->left_);
    arena.budget().work_on_text(leaf->size_);
    const std::size_t begin = end - leaf->size_;
    std::copy_n(leaf->data_, leaf->size_, out + begin);
    for (std::uint32_t i = leaf->run_count_; i-- > 0;) {
      const std::size_t run_end = std::min(leaf->runs_[i].end, leaf->size_) + begin;
      if (!runs.empty() && runs.back().origin == leaf->runs_[i].origin) continue;
      runs.push_back({static_cast<std::uint32_t>(run_end), leaf->runs_[i].origin});
    }
    end = begin;
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

void Text::flatten(Arena& arena) const {
  char* const data = arena.array<char>(size_);
  const auto runs = arena.copy(fill(arena, data));
  data_ = data;
  runs_ = runs.data();
  run_count_ = static_cast<std::uint32_t>(runs.size());
}

Rendered Text::write(Arena& arena) const {
  Rendered rendered;
  rendered.text.resize(size_);
  const auto runs = fill(arena, rendered.text.data());
  arena.budget().take_memory(runs.size() * sizeof(Span));
  rendered.spans.reserve(runs.size());
  std::size_t begin = 0;
  for (const Run& run : runs) {
    if (run.end > begin) rendered.spans.push_back({begin, run.end, run.origin});
    begin = run.end;
  }
  return rendered;
}

void TextBuilder::append(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return;
  if (bytes_.size() + bytes.size() > builder_size) flush();
  if (bytes.size() > builder_size) return add(Text::copy(arena_, bytes, origin));
  const auto end = checked_size(arena_, bytes_.size() + bytes.size());
  bytes_.append(bytes);
  if (runs_.empty() || runs_.back().origin != origin) {
    runs_.push_back({end, origin});
  } else {
    runs_.back().end = end;
  }
}

void TextBuilder::append(TextRef text, std::size_t begin, std::size_t end) {
  if (end - begin > short_text) {
    flush();
    return add(Text::slice(arena_, text, begin, end));
  }
  const std::string_view bytes = text->bytes(arena_);
  for (const Run& run : text->runs(arena_)) {
    const std::size_t stop = std::min<std::size_t>(run.end, end);
    if (stop <= begin) continue;
    append(bytes.substr(begin, stop - begin), run.origin);
    begin = stop;
    if (begin == end) return;
  }
}

void TextBuilder::repeat(char filling, std::size_t count, Origin origin) {
  checked_size(arena_, count);
  append(std::string(count, filling), origin);
}

void TextBuilder::flush() {
  if (bytes_.empty()) return;
  TextRef text;
  if (runs_.size() == 1) {
    text = Text::copy(arena_, bytes_, runs_[0].origin);
  } else {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    auto* kept = arena_.make<Text>(Text(size, static_cast<std::uint32_t>(runs_.size())));
    kept->data_ = arena_.copy(std::string_view(bytes_)).data();
    kept->runs_ = arena_.copy(runs_).data();
    text = kept;
  }
  arena_.budget().work_on_text(bytes_.size());
  bytes_.clear();
  runs_.clear();
  add(text);
}

void TextBuilder::add(TextRef text) { done_ = done_ ? Text::join(arena_, done_, text) : text; }

TextRef TextBuilder::finish() {
  flush();
  return done_ ? done_ : Text::flat(arena_, {}, Origin::template_text);
}

std::size_t code_point_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::size_t code_point_size(char first_byte) {
  const auto byte = static_cast<std::uint8_t>(first_byte);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::size_t byte_offset(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  while (index-- > 0 && at < text.size()) at += code_point_size(text[at]);
  return at;
}

bool is_space(char32_t code_point) { return is_white_space(code_point) || (code_point >= 0x1C && code_point <= 0x1F); }

}  // namespace inlay::text::jinja

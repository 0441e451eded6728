// Reads header and keys in file order; nothing is kept before it was compared with what the file holds.
#include "gguf/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace inlay::inline v0::gguf {

static_assert(std::endian::native == std::endian::little, "values are used as they lie in the file");

namespace {

constexpr std::uint64_t min_key_bytes = 8 + 1 + 4 + 1;  // name, type, value
constexpr std::uint64_t min_array_bytes = 4 + 8;        // element type, count
constexpr std::uint64_t max_items = std::numeric_limits<std::int32_t>::max();

}  // namespace

void Parser::parse(std::span<const std::byte> file, FileState& state) {
  Parser parser(file, state);
  parser.read_header();
  parser.read_keys();
  parser.read_alignment();
  parser.read_tensors();
  parser.place_tensors();
  state.bytes = file.size();
}

void Parser::read_header() {
  constexpr std::string_view magic = "GGUF";
  const auto start = file_.first(std::min(file_.size(), magic.size()));
  if (!std::equal(start.begin(), start.end(), magic.begin(), [](std::byte a, char b) { return char(a) == b; })) {
    cursor_.fail(Fault::bad_magic, "this is no GGUF file, it does not begin with \"GGUF\"");
  }
  cursor_.bytes(magic.size(), "magic");
  state_.version = cursor_.number<std::uint32_t>("version");
  if (state_.version != 0 && (state_.version & 0xFFFF) == 0) {
    cursor_.fail(Fault::bad_endian, "this is a big-endian file, only little-endian ones are read");
  }
  if (state_.version != 2 && state_.version != 3) {
    cursor_.fail(Fault::bad_version, fmt::format("version {} is not read, only 2 and 3 are", state_.version));
  }
  tensor_count_ = cursor_.number<std::uint64_t>("tensor count");
  key_count_ = cursor_.number<std::uint64_t>("key count");
  cursor_.expect(tensor_count_, min_tensor_bytes, "tensors");
  cursor_.expect(key_count_, min_key_bytes, "keys");
  if (std::max(tensor_count_, key_count_) > max_items) {
    cursor_.fail(Fault::limit, fmt::format("{} keys and {} tensors are too many", key_count_, tensor_count_));
  }
}

void Parser::read_keys() {
  state_.keys.reserve(key_count_);
  for (std::uint64_t i = 0; i < key_count_; ++i) {
    cursor_.enter("key", {});
    const std::string_view name = cursor_.text("name");
    cursor_.enter("key", name);
    cursor_.check_name(name, max_key_bytes);
    state_.keys.push_back({name, read_value(cursor_.number<std::uint32_t>("type"))});
  }
  if (const Key* twice = order_by_name(state_.keys, state_.key_order)) {
    cursor_.enter("key", twice->name);
    cursor_.fail(Fault::duplicate, "it is there twice");
  }
}

Value Parser::read_value(std::uint32_t type) {
  if (type > static_cast<std::uint32_t>(ValueType::f64)) {
    cursor_.fail(Fault::bad_type, fmt::format("there is no value type {}", type));
  }
  Value value;
  value.type_ = value.element_ = static_cast<ValueType>(type);
  if (value.type_ == ValueType::array) {
    read_array(value);
    return value;
  }
  value.bytes_ = file_.data() + cursor_.position();
  skip_elements(value.type_, 1);
  return value;
}

void Parser::read_array(Value& array) {
  const auto type = cursor_.number<std::uint32_t>("element type");
  const auto count = cursor_.number<std::uint64_t>("element count");
  if (type > static_cast<std::uint32_t>(ValueType::f64)) {
    cursor_.fail(Fault::bad_type, fmt::format("there is no element type {}", type));
  }
  array.element_ = static_cast<ValueType>(type);
  array.size_ = count;
  array.bytes_ = file_.data() + cursor_.position();
  if (array.element_ == ValueType::text) return read_texts(array);
  if (array.element_ == ValueType::array) return skip_arrays(count, 2);
  skip_elements(array.element_, count);
}

// The elements of an array of arrays, which is at level `depth` - 1; they are checked, not kept.
void Parser::skip_arrays(std::uint64_t count, int depth) {
  cursor_.expect(count, min_array_bytes, "arrays");
  if (depth > max_array_depth && count > 0) {
    cursor_.fail(Fault::limit, fmt::format("arrays are nested more than {} deep", max_array_depth));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto type = cursor_.number<std::uint32_t>("element type");
    const auto elements = cursor_.number<std::uint64_t>("element count");
    if (type > static_cast<std::uint32_t>(ValueType::f64)) {
      cursor_.fail(Fault::bad_type, fmt::format("there is no element type {}", type));
    }
    if (static_cast<ValueType>(type) == ValueType::array) {
      skip_arrays(elements, depth + 1);
    } else {
      skip_elements(static_cast<ValueType>(type), elements);
    }
  }
}

void Parser::skip_elements(ValueType type, std::uint64_t count) {
  if (type == ValueType::text) {
    cursor_.expect(count, sizeof(std::uint64_t), "strings");
    for (std::uint64_t i = 0; i < count; ++i) cursor_.text("string");
    return;
  }
  cursor_.expect(count, size_of(type), "elements");
  const auto elements = cursor_.bytes(count * size_of(type), "value");
  if (type != ValueType::boolean) return;
  for (const std::byte flag : elements) {
    if (flag > std::byte{1}) cursor_.fail(Fault::bad_value, fmt::format("a boolean is 0 or 1, not {}", int(flag)));
  }
}

void Parser::read_texts(Value& array) {
  cursor_.expect(array.size_, sizeof(std::uint64_t), "strings");
  auto& texts = state_.texts.emplace_front(array.size_);
  for (auto& text : texts) text = cursor_.text("string");
  array.texts_ = texts.data();
}

void Parser::read_alignment() {
  constexpr std::string_view name = "general.alignment";
  const Value* value = state_.find(name);
  if (value == nullptr) return;
  cursor_.enter("key", name);
  if (value->type() != ValueType::u32) cursor_.fail(Fault::wrong_type, "it must be of type u32");
  state_.alignment = static_cast<std::uint64_t>(*value->integer());
  if (!std::has_single_bit(state_.alignment) || state_.alignment < 8 || state_.alignment > max_alignment) {
    cursor_.fail(Fault::bad_alignment,
                 fmt::format("{} is no power of two from 8 to {}", state_.alignment, max_alignment));
  }
}

}  // namespace inlay::inline v0::gguf

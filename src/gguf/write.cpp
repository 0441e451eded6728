// Records are gathered in memory until the first tensor's data come; data go straight through.
#include "gguf/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "gguf/state.hpp"

namespace inlay::inline v0::gguf {
namespace {

template <class Number>
void append(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& out, std::string_view text) {
  append(out, std::uint64_t{text.size()});
  out += text;
}

// Where `count` encoded elements end. They lie in an opened file, so they are whole, and nested no deeper than the
// reader allows.
const std::byte* end_of(ValueType type, std::uint64_t count, const std::byte* at) {
  if (size_of(type) != 0) return at + count * size_of(type);
  for (; count > 0; --count) {
    if (type == ValueType::text) {
      at += sizeof(std::uint64_t) + load<std::uint64_t>(at);
    } else {
      const auto element = static_cast<ValueType>(load<std::uint32_t>(at));
      const auto elements = load<std::uint64_t>(at + sizeof(std::uint32_t));
      at = end_of(element, elements, at + sizeof(std::uint32_t) + sizeof(std::uint64_t));
    }
  }
  return at;
}

[[noreturn]] void refuse(const std::string& sentence) { throw Error(Errc::argument, sentence); }

}  // namespace

Writer::Writer(Sink sink, std::uint32_t alignment) : sink_(std::move(sink)), alignment_(alignment) {
  if (!std::has_single_bit(alignment) || alignment < 8) {
    refuse(fmt::format("alignment {} is no power of two from 8 up", alignment));
  }
  if (alignment != 32) key("general.alignment", alignment);
}

void Writer::copy(const Key& key) {
  if (key.name == "general.alignment") return;
  const Value& value = key.value;
  if (value.type() == ValueType::array) {
    begin_array(key.name, value.element_type(), value.size());
  } else {
    begin_key(key.name, value.type());
  }
  const std::byte* end = end_of(value.element_type(), value.size(), value.bytes_);
  key_records_.append(reinterpret_cast<const char*>(value.bytes_), static_cast<std::size_t>(end - value.bytes_));
}

void Writer::tensor(std::string_view name, Type type, std::span<const std::int64_t> shape) {
  if (header_written_) refuse(fmt::format("tensor {} comes after the first data", quoted(name)));
  const TypeInfo& info = type_info(type);
  const bool whole = !shape.empty() && shape.size() <= 4 && shape.back() % info.block_values == 0 &&
                     std::ranges::all_of(shape, [](std::int64_t size) { return size > 0; });
  if (!whole)
    refuse(fmt::format("tensor {} of type {} cannot have the shape [{}]", quoted(name), info.name,
                       fmt::join(shape, ", ")));
  std::uint64_t values = 1;
  for (const std::int64_t size : shape) values *= static_cast<std::uint64_t>(size);
  const std::uint64_t end = tensors_.empty() ? 0 : tensors_.back().offset + tensors_.back().bytes;
  const std::uint64_t offset = base::checked_align(end, alignment_).value_or(end);
  tensors_.push_back({offset, bytes_of(type, values) + info.tail_bytes});
  append_text(tensor_records_, name);
  append(tensor_records_, static_cast<std::uint32_t>(shape.size()));
  for (std::size_t i = 1; i <= shape.size(); ++i) append(tensor_records_, shape[shape.size() - i]);
  append(tensor_records_, type);
  append(tensor_records_, offset);
}

void Writer::data(std::span<const std::byte> bytes) {
  if (!header_written_) write_header();
  while (!bytes.empty()) {
    if (current_ == tensors_.size()) refuse("there is more data than the tensors have");
    const Extent& extent = tensors_[current_];
    pad_to(extent.offset);
    const auto piece = bytes.first(std::min<std::uint64_t>(bytes.size(), extent.offset + extent.bytes - position_));
    sink_(piece);
    position_ += piece.size();
    bytes = bytes.subspan(piece.size());
    if (position_ == extent.offset + extent.bytes) ++current_;
  }
}

void Writer::finish() {
  if (!header_written_) write_header();
  if (current_ != tensors_.size()) refuse(fmt::format("data for {} tensors is missing", tensors_.size() - current_));
  pad_to(base::checked_align(position_, alignment_).value_or(position_));
}

void Writer::put_text(std::string_view text) { append_text(key_records_, text); }

void Writer::begin_key(std::string_view name, ValueType type) {
  if (header_written_) refuse(fmt::format("key {} comes after the first data", quoted(name)));
  ++keys_;
  append_text(key_records_, name);
  append(key_records_, type);
}

void Writer::begin_array(std::string_view name, ValueType type, std::uint64_t count) {
  begin_key(name, ValueType::array);
  append(key_records_, type);
  append(key_records_, count);
}

void Writer::write_header() {
  std::string header = "GGUF";
  append(header, std::uint32_t{3});
  append(header, std::uint64_t{tensors_.size()});
  append(header, keys_);
  header += key_records_ + tensor_records_;
  header.resize(base::checked_align(header.size(), alignment_).value_or(header.size()));
  sink_(std::as_bytes(std::span(header)));
  header_written_ = true;
}

void Writer::pad_to(std::uint64_t end) {
  constexpr std::array<std::byte, 64> zeros{};
  while (position_ < end) {
    const auto piece = std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), end - position_));
    sink_(piece);
    position_ += piece.size();
  }
}

}  // namespace inlay::inline v0::gguf

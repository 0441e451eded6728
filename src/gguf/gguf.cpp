// What an opened GGUF file answers: values, keys and tensors by name. Opening and reading are in parser.cpp and
// open.cpp.
#include "inlay/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "gguf/state.hpp"
#include "gguf/types.hpp"

namespace inlay::inline v0::gguf {
namespace {

constexpr std::string_view value_type_names[] = {"u8",      "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                 "boolean", "string", "array", "u64", "i64", "f64"};

// Element `i` of integers of this type; empty for other types and for what does not fit.
std::optional<std::int64_t> load_integer(ValueType type, const std::byte* values, std::size_t i) noexcept {
  switch (type) {
    case ValueType::u8: return load<std::uint8_t>(values, i);
    case ValueType::i8: return load<std::int8_t>(values, i);
    case ValueType::u16: return load<std::uint16_t>(values, i);
    case ValueType::i16: return load<std::int16_t>(values, i);
    case ValueType::u32: return load<std::uint32_t>(values, i);
    case ValueType::i32: return load<std::int32_t>(values, i);
    case ValueType::i64: return load<std::int64_t>(values, i);
    case ValueType::u64: {
      const auto value = load<std::uint64_t>(values, i);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default: return std::nullopt;
  }
}

// Where `name` is, or would be, in the items' order.
template <class Item>
const Item* search(const std::pmr::vector<Item>& items, const std::pmr::vector<std::uint32_t>& order,
                   std::string_view name) noexcept {
  const auto name_of = [&](std::uint32_t i) { return items[i].name; };
  const auto place = std::ranges::lower_bound(order, name, {}, name_of);
  return place != order.end() && name_of(*place) == name ? &items[*place] : nullptr;
}

}  // namespace

std::optional<std::int64_t> Value::integer(std::size_t i) const noexcept {
  if (i >= size_) return std::nullopt;
  return load_integer(element_, bytes_, i);
}

std::optional<double> Value::real(std::size_t i) const noexcept {
  if (i >= size_) return std::nullopt;
  if (element_ == ValueType::f32) return load<float>(bytes_, i);
  if (element_ == ValueType::f64) return load<double>(bytes_, i);
  if (element_ == ValueType::u64) return static_cast<double>(load<std::uint64_t>(bytes_, i));
  const auto whole = load_integer(element_, bytes_, i);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<bool> Value::flag(std::size_t i) const noexcept {
  if (i >= size_ || element_ != ValueType::boolean) return std::nullopt;
  return bytes_[i] != std::byte{0};
}

std::optional<std::string_view> Value::text(std::size_t i) const noexcept {
  if (i >= size_ || element_ != ValueType::text) return std::nullopt;
  if (texts_ != nullptr) return texts_[i];
  const auto length = load<std::uint64_t>(bytes_, 0);
  return std::string_view(reinterpret_cast<const char*>(bytes_) + sizeof(length), length);
}

template <class Item>
const Item* order_by_name(const std::pmr::vector<Item>& items, std::pmr::vector<std::uint32_t>& order) {
  const auto name_of = [&](std::uint32_t i) { return items[i].name; };
  order.resize(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, name_of);
  const auto twice = std::ranges::adjacent_find(order, {}, name_of);
  return twice == order.end() ? nullptr : &items[*twice];
}
template const Key* order_by_name(const std::pmr::vector<Key>&, std::pmr::vector<std::uint32_t>&);
template const Tensor* order_by_name(const std::pmr::vector<Tensor>&, std::pmr::vector<std::uint32_t>&);

std::uint64_t size_of(ValueType type) noexcept {
  constexpr std::uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[static_cast<std::size_t>(type)];
}

std::string quoted(std::string_view name) {
  constexpr std::size_t shown = 80;
  std::string text = "\"";
  for (const char c : name.substr(0, shown)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
  return text + (name.size() > shown ? "...\"" : "\"");
}

void fail(std::string_view file, Fault fault, const std::string& sentence, std::string_view where) {
  throw Error(Errc::format, file.empty() ? sentence : fmt::format("{}: {}", file, sentence), fault,
              std::string(where.substr(0, 80)));
}

const Value* FileState::find(std::string_view key) const noexcept {
  const Key* found = search(keys, key_order, key);
  return found ? &found->value : nullptr;
}

const Tensor* FileState::tensor(std::string_view name) const noexcept { return search(tensors, tensor_order, name); }

template <class Result>
Result FileState::scalar(std::string_view key, std::optional<Result> (Value::*read)(std::size_t) const noexcept,
                         std::string_view kind) const {
  const Value* value = find(key);
  if (value == nullptr) fail(name, Fault::missing_key, fmt::format("key {} is missing", quoted(key)), key);
  const auto result = value->type() == ValueType::array ? std::nullopt : (value->*read)(0);
  if (result) return *result;
  const std::string_view type = value_type_names[static_cast<std::size_t>(value->type())];
  const bool too_large = value->type() == ValueType::u64 && std::is_same_v<Result, std::int64_t>;
  fail(name, too_large ? Fault::bad_value : Fault::wrong_type,
       too_large ? fmt::format("key {}: {} is too large", quoted(key), *value->real())
                 : fmt::format("key {} must be {}, not of type {}", quoted(key), kind, type),
       key);
}
template std::int64_t FileState::scalar(std::string_view,
                                        std::optional<std::int64_t> (Value::*)(std::size_t) const noexcept,
                                        std::string_view) const;

File::File(std::shared_ptr<const FileState> state) noexcept : state_(std::move(state)) {}

std::uint32_t File::version() const noexcept { return state_->version; }
std::size_t File::alignment() const noexcept { return state_->alignment; }
std::uint64_t File::bytes() const noexcept { return state_->bytes; }
std::span<const Key> File::keys() const& noexcept { return state_->keys; }
std::span<const Tensor> File::tensors() const& noexcept { return state_->tensors; }
const Value* File::find(std::string_view key) const& noexcept { return state_->find(key); }
const Tensor* File::tensor(std::string_view name) const& noexcept { return state_->tensor(name); }

std::int64_t File::integer(std::string_view key) const { return state_->scalar(key, &Value::integer, "an integer"); }
double File::real(std::string_view key) const { return state_->scalar(key, &Value::real, "a number"); }
bool File::flag(std::string_view key) const { return state_->scalar(key, &Value::flag, "a boolean"); }
std::string_view File::text(std::string_view key) const& { return state_->scalar(key, &Value::text, "a string"); }

std::int64_t File::integer(std::string_view key, std::int64_t otherwise) const {
  return find(key) ? integer(key) : otherwise;
}
double File::real(std::string_view key, double otherwise) const { return find(key) ? real(key) : otherwise; }
bool File::flag(std::string_view key, bool otherwise) const { return find(key) ? flag(key) : otherwise; }
std::string_view File::text(std::string_view key, std::string_view otherwise) const& {
  return find(key) ? text(key) : otherwise;
}

void File::drop(std::span<const std::byte> part) const noexcept {
  for (const base::Mapping& mapping : state_->mappings) mapping.drop(part);
}

std::string_view type_name(std::uint32_t type) noexcept {
  const TypeInfo* info = find_type(type);
  return info ? info->name : std::string_view();
}

}  // namespace inlay::inline v0::gguf

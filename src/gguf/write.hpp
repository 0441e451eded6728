// Writes GGUF files: keys and tensor records first, then the tensors' data, piece by piece, to wherever the caller puts
// it.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "gguf/types.hpp"
#include "inlay/gguf.hpp"

namespace inlay::inline v0::gguf {

class Writer {
 public:
  // Takes the file's bytes from front to back.
  using Sink = std::function<void(std::span<const std::byte>)>;

  // Throws Error{argument} for an alignment that is no power of two from 8 up.
  explicit Writer(Sink sink, std::uint32_t alignment = 32);

  // A key with one value: a number, a bool or a string.
  template <class T>
  void key(std::string_view name, const T& value) {
    begin_key(name, type_of<T>());
    put(value);
  }

  // A key with an array of numbers, bools or strings.
  template <class Values>
  void array(std::string_view name, const Values& values) {
    using T = std::iter_value_t<decltype(std::begin(values))>;
    begin_array(name, type_of<T>(), std::size(values));
    for (const T& value : values) put(value);
  }

  // The same key of an opened file; general.alignment is left out, the writer has its own.
  void copy(const Key& key);

  // Announces a tensor; `shape` is outermost first.
  void tensor(std::string_view name, Type type, std::span<const std::int64_t> shape);

  // The next bytes of the tensors, one after another in the order of their announcement. From the first call on there
  // can be no more keys and tensors. Throws Error{argument} for more bytes than were announced.
  void data(std::span<const std::byte> bytes);

  // Ends the file; throws Error{argument} if data is missing.
  void finish();

 private:
  struct Extent {
    std::uint64_t offset, bytes;
  };

  template <class T>
  static constexpr ValueType type_of();
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      key_records_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      put_text(value);
    }
  }
  void put_text(std::string_view text);
  void begin_key(std::string_view name, ValueType type);
  void begin_array(std::string_view name, ValueType type, std::uint64_t count);
  void write_header();
  void pad_to(std::uint64_t end);

  Sink sink_;
  std::uint64_t alignment_;
  std::string key_records_, tensor_records_;
  std::uint64_t keys_ = 0;
  std::vector<Extent> tensors_;
  bool header_written_ = false;
  std::size_t current_ = 0;     // the tensor whose data are next
  std::uint64_t position_ = 0;  // within the data
};

template <class T>
constexpr ValueType Writer::type_of() {
  using enum ValueType;
  constexpr ValueType integers[2][4] = {{u8, u16, u32, u64}, {i8, i16, i32, i64}};
  if constexpr (std::is_same_v<T, bool>) {
    return boolean;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == sizeof(float) ? f32 : f64;
  } else if constexpr (std::is_integral_v<T>) {
    return integers[std::is_signed_v<T>][std::countr_zero(sizeof(T))];
  } else {
    return text;
  }
}

}  // namespace inlay::inline v0::gguf

// What an opened GGUF file consists of; copies of a File share it.
#pragma once

#include <cstdint>
#include <cstring>
#include <forward_list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapping.hpp"
#include "inlay/gguf.hpp"

namespace inlay::inline v0::gguf {

struct FileState {
  explicit FileState(std::pmr::memory_resource* memory)
      : name(memory),
        mappings(memory),
        copy(memory),
        keys(memory),
        tensors(memory),
        key_order(memory),
        tensor_order(memory),
        texts(memory),
        shapes(memory) {}

  std::pmr::string name;                     // for messages; empty for a file in memory
  std::pmr::vector<base::Mapping> mappings;  // one for each file of a split model
  std::pmr::vector<std::uint64_t> copy;      // of a file in memory at an address that tensors cannot have
  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  std::uint64_t bytes = 0;
  std::pmr::vector<Key> keys;
  std::pmr::vector<Tensor> tensors;
  std::pmr::vector<std::uint32_t> key_order, tensor_order;           // sorted by name
  std::pmr::forward_list<std::pmr::vector<std::string_view>> texts;  // the elements that Values point to
  std::pmr::vector<std::pmr::vector<std::int64_t>> shapes;           // of the tensors of each file

  const Value* find(std::string_view key) const noexcept;
  const Tensor* tensor(std::string_view name) const noexcept;
  // The value of a key that must be there and be one value that `read` can read; `kind` says what that is.
  template <class Result>
  Result scalar(std::string_view key, std::optional<Result> (Value::*read)(std::size_t) const noexcept,
                std::string_view kind) const;
};

// Orders `items` by name; the first that has the name of another, or null.
template <class Item>
const Item* order_by_name(const std::pmr::vector<Item>& items, std::pmr::vector<std::uint32_t>& order);

// Number `i` of those that lie at `numbers`, aligned or not.
template <class Number>
Number load(const std::byte* numbers, std::size_t i = 0) noexcept {
  Number number;
  std::memcpy(&number, numbers + i * sizeof(Number), sizeof(Number));
  return number;
}

// Bytes of one value in the file; 0 for strings and arrays.
std::uint64_t size_of(ValueType type) noexcept;

// `name` for a message: quoted, short, and printable whatever it contains.
std::string quoted(std::string_view name);

[[noreturn]] void fail(std::string_view file, Fault fault, const std::string& sentence, std::string_view where);

}  // namespace inlay::inline v0::gguf

// A GGUF file opened: its keys and tensors, checked against the file's length. Usable on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/error.hpp"

namespace inlay {
inline namespace v0 {
namespace gguf {

/// Types a metadata value can have; the numbers are the file format's.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

/// One metadata value, or an array of them. Views the file's memory; lives as long as its File.
class INLAY_API Value {
 public:
  ValueType type() const noexcept { return type_; }             ///< `array` for arrays
  ValueType element_type() const noexcept { return element_; }  ///< of an array's elements; type() otherwise
  std::size_t size() const noexcept { return size_; }           ///< elements of an array, else 1

  /// The value (or element i) where its type is an integer, real, boolean or string; empty where it is another type,
  /// does not fit, or i is out of range. Nested arrays have no elements.
  std::optional<std::int64_t> integer(std::size_t i = 0) const noexcept;
  std::optional<double> real(std::size_t i = 0) const noexcept;  ///< integers count as real
  std::optional<bool> flag(std::size_t i = 0) const noexcept;
  std::optional<std::string_view> text(std::size_t i = 0) const noexcept;

 private:
  friend class Parser;
  friend class Writer;
  ValueType type_{}, element_{};
  std::size_t size_ = 1;
  const std::byte* bytes_ = nullptr;         // the value or the elements, as in the file
  const std::string_view* texts_ = nullptr;  // the elements of an array of strings
};

struct Key {
  std::string_view name;
  Value value;
};

/// One tensor. Lives as long as its File. `shape` is outermost first: [rows, columns] for a matrix (the file writes it
/// reversed).
struct Tensor {
  std::string_view name;
  std::uint32_t type = 0;               ///< GGUF type id
  std::span<const std::int64_t> shape;  ///< 1 to 4 dimensions
  std::span<const std::byte> data;      ///< exactly the tensor's bytes, inside the file
};

struct OpenOptions {
  bool split = true;  ///< also open the other files of a split model (-00001-of-0000N)
  bool copy = false;  ///< read the file into memory instead of mapping it: nobody can change or shorten it meanwhile
  /// Serves the tables of keys, tensors and strings; null: the heap. Must outlive every copy of the File.
  std::pmr::memory_resource* memory = nullptr;
};

/// An opened file. Cheap to copy: copies share the mapping. Everything was validated when it was opened.
/// Little-endian files of version 2 and 3 are read. Refused are, beyond what the format forbids: names that are not
/// printable ASCII, keys over 65,535 bytes, arrays nested more than 4 deep, alignments below 8 or above 1 MiB, tensors
/// that overlap or have no values. Opening takes memory for at most 4 times the metadata and 1 MiB.
class INLAY_API File {
 public:
  /// Maps the file; `path` is UTF-8. Throws Error{io}, Error{format} or Error{memory}; a fault in the content names the
  /// key or tensor. A mapped file must not be shortened while it is open: see OpenOptions::copy.
  static File open(std::string_view path, const OpenOptions& = {});
  /// Reads from memory, kept by reference: it must outlive every copy of the File and all views of it.
  static File read(std::span<const std::byte> file, std::pmr::memory_resource* memory = nullptr);
  static File read(std::vector<std::byte>&& file, std::pmr::memory_resource* memory = nullptr) = delete;

  std::uint32_t version() const noexcept;
  std::size_t alignment() const noexcept;
  std::uint64_t bytes() const noexcept;  ///< of all files of a split model
  std::span<const Key> keys() const& noexcept;
  std::span<const Tensor> tensors() const& noexcept;
  const Value* find(std::string_view key) const& noexcept;  ///< null if absent
  const Tensor* tensor(std::string_view name) const& noexcept;
  // What is seen lives as long as its File: name the file first.
  std::span<const Key> keys() && = delete;
  std::span<const Tensor> tensors() && = delete;
  const Value* find(std::string_view key) && = delete;
  const Tensor* tensor(std::string_view name) && = delete;

  /// Typed access for keys that must be there: throws Error{format} with missing_key or wrong_type, naming the key.
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::string_view text(std::string_view key) const&;
  std::string_view text(std::string_view key) && = delete;
  /// The same where the key may be absent; still throws if it is there with another type.
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double real(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::string_view text(std::string_view key, std::string_view otherwise) const&;
  std::string_view text(std::string_view key, std::string_view otherwise) && = delete;

  /// Tells the system that this part of the mapping will not be read again soon (after weights were repacked).
  void drop(std::span<const std::byte> part) const noexcept;

 private:
  friend class Parser;
  explicit File(std::shared_ptr<const struct FileState>) noexcept;
  std::shared_ptr<const struct FileState> state_;
};

/// "Q4_K" for 12; empty for an id that this version does not know.
INLAY_API std::string_view type_name(std::uint32_t type) noexcept;

}  // namespace gguf
}  // namespace v0
}  // namespace inlay

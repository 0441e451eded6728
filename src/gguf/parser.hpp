// Turns the bytes of one GGUF file into keys and tensors, all of them checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/cursor.hpp"
#include "gguf/state.hpp"

namespace inlay::inline v0::gguf {

// Limits of this reader, beyond those of the format.
inline constexpr std::uint64_t max_key_bytes = 65535;
inline constexpr std::uint64_t max_tensor_name_bytes = 64;
inline constexpr std::uint64_t max_alignment = 1 << 20;
inline constexpr int max_array_depth = 4;
inline constexpr std::uint32_t max_dimensions = 4;

// What a tensor record takes at least: name, number of dimensions, one dimension, type, offset.
inline constexpr std::uint64_t min_tensor_bytes = 8 + 1 + 4 + 8 + 4 + 8;

class Parser {
 public:
  // Opens a file and, if asked, the other parts of its model. `probe` is for tests: see base::Mapping.
  static File open(const std::string& path, const OpenOptions& options, const base::Mapping::Probe& probe = {});
  static File read(std::span<const std::byte> file, std::pmr::memory_resource* memory);

  // Reads the content of one file into `state`, whose name is set.
  static void parse(std::span<const std::byte> file, FileState& state);

 private:
  Parser(std::span<const std::byte> file, FileState& state) : file_(file), state_(state), cursor_(file, state.name) {}

  static File share(FileState&& state, std::pmr::memory_resource* memory);

  void read_header();
  void read_keys();
  Value read_value(std::uint32_t type);
  void read_array(Value& array);
  void skip_arrays(std::uint64_t count, int depth);
  void skip_elements(ValueType type, std::uint64_t count);
  void read_texts(Value& array);
  void read_alignment();
  void read_tensors();
  void read_tensor(std::pmr::vector<std::int64_t>& shapes);
  std::uint64_t checked_bytes(const Tensor& tensor) const;
  void place_tensors();
  void check_overlaps();

  struct Extent {
    std::uint64_t offset, bytes;  // from the start of the data
  };

  std::span<const std::byte> file_;
  FileState& state_;
  Cursor cursor_;
  std::uint64_t key_count_ = 0, tensor_count_ = 0;
  std::vector<Extent> extents_;  // of each tensor
};

}  // namespace inlay::inline v0::gguf

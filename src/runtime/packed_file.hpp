// The file beside a model that holds its weights as a backend packed them: who maps it packs nothing, and processes
// that map it share one copy.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "base/memory.hpp"
#include "inlay/gguf.hpp"

namespace inlay::runtime {

class PackedFile {
 public:
  struct Part {
    std::uint64_t tensor;  // what part_key() says
    std::span<const std::byte> bytes;
  };
  using Parts = std::pmr::vector<Part>;

  // What a packed file depends on: the model's content and time of change, and the layout. A file of another origin is
  // as good as none.
  static std::uint64_t origin_of(const std::string& model, const gguf::File& file, const std::string& layout);
  // Stands for one tensor in one use, as the model sees its shape.
  static std::uint64_t part_key(const gguf::Tensor& tensor, std::uint32_t role) noexcept;

  // Null where there is none that can be used: the head is checked as a whole, and all places and sizes before they are
  // used. Of the weights themselves, as of the model's, samples.
  static base::Owned<PackedFile> open(const std::string& path, std::uint64_t origin, std::pmr::memory_resource* memory);
  // At once in the place of what was there; works in the memory of the list. Throws std::system_error.
  static void write(const std::string& path, std::uint64_t origin, Parts parts);

  std::span<const std::byte> find(std::uint64_t tensor) const noexcept;  // empty: not here

  PackedFile(base::Mapping file, Parts parts) : file_(std::move(file)), parts_(std::move(parts)) {}

 private:
  base::Mapping file_;
  Parts parts_;  // by tensor
};

}  // namespace inlay::runtime

// Hyper-parameters of a model file by key, their types checked.
#pragma once

#include "inlay/gguf.hpp"
#include "inlay/nn/weights.hpp"

namespace inlay::runtime {

class FileMetadata final : public nn::Metadata::Source {
 public:
  explicit FileMetadata(const gguf::File& file) : file_(&file) {}
  std::optional<double> number(std::string_view key, std::size_t i) const override;
  std::optional<std::string_view> text(std::string_view key) const override;
  std::size_t size(std::string_view key) const override;

 private:
  const gguf::File* file_;
};

}  // namespace inlay::runtime

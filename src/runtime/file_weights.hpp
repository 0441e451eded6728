// Weights of a model file by name, in the backend's own form.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/parallel.hpp"
#include "inlay/gguf.hpp"
#include "inlay/nn/weights.hpp"
#include "runtime/device.hpp"
#include "runtime/lacking.hpp"
#include "runtime/packed_file.hpp"

namespace inlay::runtime {

// Loads each tensor when a block asks for it, in the form that its use wants, and remembers which were asked for.
class FileWeights final : public nn::Weights::Source {
 public:
  using Found = std::pmr::unordered_map<std::pmr::string, nn::Tensor>;  // by name and use
  struct Options {
    bool measure = false;  // count bytes, pack nothing
    base::Team* team = nullptr;
    std::function<bool(float done)> progress = {};
    const PackedFile* packed = nullptr;  // where weights are taken from that are there
    bool mapped = false;                 // they stay as the file has them
    const Found* known = nullptr;        // of another network of the file, which lives longer
  };
  FileWeights(const gguf::File& file, const Device& device, Options options);

  nn::Tensor find(const std::string& name, std::span<const std::int64_t> shape, nn::Weights::Use use) override;
  std::vector<std::int64_t> shape(const std::string& name) const override;
  nn::Tensor constant(std::span<const float> values) override;
  std::pmr::memory_resource* memory() const noexcept override { return device_->memory(); }

  std::uint64_t bytes() const noexcept { return bytes_; }  // on the device so far
  void check_layers() const { lacking_.check(*file_); }
  void check_scales() const;  // throws Error{unsupported} where a matrix's scale is apart, and nobody asked for it
  void finish();              // tells that all is read: a file has more than its tensors
  std::vector<std::string> unused() const;  // tensors of the file that nobody asked for
  Found take_found() noexcept { return std::move(found_); }
  PackedFile::Parts take_parts() noexcept { return std::move(parts_); }          // what was packed
  std::pmr::vector<Block> take_blocks() noexcept { return std::move(blocks_); }  // the memory of all weights

 private:
  nn::Tensor values(const gguf::Tensor& tensor);
  nn::Tensor packed(const gguf::Tensor& tensor, std::uint32_t role);
  nn::Tensor ternary(const gguf::Tensor& tensor);
  nn::Tensor scale_of_ternary(const std::string& name);
  static bool is_ternary(const gguf::Tensor& tensor);
  static std::size_t numbers_in(const gguf::Tensor& tensor);
  std::pmr::string key_of(std::string_view name, nn::Weights::Use use) const;
  bool is_asked_for(std::string_view name) const;  // so far, in any use
  nn::Tensor keep(std::pmr::string&& key, const nn::Tensor& tensor) {
    return found_.emplace(std::move(key), tensor).first->second;
  }
  void pack_rows(const inlay_tensor& source, std::uint32_t role, inlay_tensor& packed, std::string_view name);
  void report(std::uint64_t bytes);
  void* reserve(std::size_t bytes);

  const gguf::File* file_;
  const Device* device_;
  Options options_;
  Found found_;
  Lacking lacking_;
  std::pmr::vector<Block> blocks_;
  PackedFile::Parts parts_;
  std::byte* next_ = nullptr;  // in the last block
  std::size_t left_ = 0;
  std::uint64_t bytes_ = 0, read_ = 0;
};

}  // namespace inlay::runtime

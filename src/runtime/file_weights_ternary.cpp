// Ternary matrices, whose scale stands apart from their codes.
#include <fmt/format.h>

#include <cmath>

#include "gguf/ternary.hpp"
#include "gguf/types.hpp"
#include "runtime/file_weights.hpp"

namespace inlay::runtime {

bool FileWeights::is_ternary(const gguf::Tensor& tensor) { return tensor.type == std::uint32_t(gguf::Type::I2_S); }

// Codes alone; the scale comes as the factor "<name>.scale" of the matrix.
nn::Tensor FileWeights::ternary(const gguf::Tensor& tensor) {
  if (tensor.shape.size() != 2)
    throw Error(Errc::unsupported, fmt::format("the tensor {} is no matrix, and of type I2_S", tensor.name),
                Fault::unsupported, std::string(tensor.name));
  const auto blocks = gguf::ternary_blocks(tensor.data, numbers_in(tensor));
  gguf::Tensor seen = tensor;
  seen.type = std::uint32_t(gguf::Type::Q2_0), seen.data = blocks;
  auto loaded = packed(seen, INLAY_ROLE_MATRIX);
  if (loaded.view.data == blocks.data() && !options_.measure) {  // where a backend takes blocks as they are
    loaded.view.data = reserve(blocks.size());
    device_->table().upload(device_->handle(), loaded.view.data, blocks.data(), blocks.size());
  }
  return loaded;
}

nn::Tensor FileWeights::scale_of_ternary(const std::string& name) {
  constexpr std::string_view ending = ".scale";
  if (!name.ends_with(ending)) return {};
  const auto* matrix = file_->tensor(name.substr(0, name.size() - ending.size()) + ".weight");
  if (!matrix || !is_ternary(*matrix)) return {};
  std::pmr::string key(name, memory());
  if (const auto known = found_.find(key); known != found_.end()) return known->second;
  const float scale = gguf::ternary_scale(matrix->data, numbers_in(*matrix));
  if (!std::isfinite(scale))
    throw Error(Errc::format, fmt::format("the scale of the tensor {} is not finite", matrix->name), Fault::bad_value,
                std::string(matrix->name));
  return keep(std::move(key), constant({&scale, 1}));
}

void FileWeights::check_scales() const {
  for (const auto& tensor : file_->tensors()) {
    const auto name = tensor.name;
    if (!is_ternary(tensor) || !name.ends_with(".weight") || !found_.contains(key_of(name, nn::Weights::Use::matrix)))
      continue;
    std::pmr::string scale(name.substr(0, name.size() - std::string_view("weight").size()), memory());
    scale += "scale";
    if (!found_.contains(scale))
      throw Error(Errc::unsupported, fmt::format("the tensor {} is of type I2_S, whose scale has no place there", name),
                  Fault::unsupported, std::string(name));
  }
}

}  // namespace inlay::runtime

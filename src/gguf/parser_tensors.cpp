// Reads the tensor records and gives each tensor its bytes of the file, which no other tensor has.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "gguf/parser.hpp"
#include "gguf/types.hpp"

namespace inlay::inline v0::gguf {

void Parser::read_tensors() {
  cursor_.enter("header");
  cursor_.expect(tensor_count_, min_tensor_bytes, "tensors");
  state_.tensors.reserve(tensor_count_);
  extents_.reserve(tensor_count_);
  auto& shapes = state_.shapes.emplace_back();
  shapes.reserve(max_dimensions * tensor_count_);  // never moves again: the tensors show it
  for (std::uint64_t i = 0; i < tensor_count_; ++i) read_tensor(shapes);
  if (const Tensor* twice = order_by_name(state_.tensors, state_.tensor_order)) {
    cursor_.enter("tensor", twice->name);
    cursor_.fail(Fault::duplicate, "it is there twice");
  }
}

void Parser::read_tensor(std::pmr::vector<std::int64_t>& shapes) {
  Tensor tensor;
  cursor_.enter("tensor", {});
  tensor.name = cursor_.text("name");
  cursor_.enter("tensor", tensor.name);
  cursor_.check_name(tensor.name, max_tensor_name_bytes);
  const auto dimensions = cursor_.number<std::uint32_t>("number of dimensions");
  if (dimensions < 1 || dimensions > max_dimensions) {
    cursor_.fail(Fault::bad_dims, fmt::format("it has {} dimensions, 1 to 4 are allowed", dimensions));
  }
  const auto begin = shapes.end();
  for (std::size_t i = 0; i < dimensions; ++i) shapes.push_back(cursor_.number<std::int64_t>("dimensions"));
  std::reverse(begin, shapes.end());  // the file writes the innermost dimension first
  tensor.shape = std::span(begin, shapes.end());
  tensor.type = cursor_.number<std::uint32_t>("type");
  const auto offset = cursor_.number<std::uint64_t>("offset");
  extents_.push_back({offset, checked_bytes(tensor)});
  state_.tensors.push_back(tensor);
}

std::uint64_t Parser::checked_bytes(const Tensor& tensor) const {
  std::uint64_t values = 1;
  for (const std::int64_t dimension : tensor.shape) {
    if (dimension <= 0) {
      cursor_.fail(Fault::bad_dims, fmt::format("a dimension is {}", static_cast<std::uint64_t>(dimension)));
    }
    const auto product = base::checked_multiply(values, static_cast<std::uint64_t>(dimension));
    if (!product || *product > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      cursor_.fail(Fault::overflow, fmt::format("its shape [{}] has too many values", fmt::join(tensor.shape, ", ")));
    }
    values = *product;
  }
  const TypeInfo* type = find_type(tensor.type);
  if (type == nullptr) cursor_.fail(Fault::bad_type, fmt::format("there is no tensor type {}", tensor.type));
  if (tensor.shape.back() % type->block_values != 0) {
    cursor_.fail(Fault::bad_dims, fmt::format("a row of {} values is no multiple of {}, the block size of {}",
                                              tensor.shape.back(), type->block_values, type->name));
  }
  auto bytes = base::checked_multiply(values / type->block_values, type->block_bytes);
  if (bytes) bytes = base::checked_add(*bytes, std::uint64_t{type->tail_bytes});
  if (!bytes) cursor_.fail(Fault::overflow, fmt::format("the bytes of {} {} values are too many", values, type->name));
  return *bytes;
}

void Parser::place_tensors() {
  const std::uint64_t start = base::checked_align(cursor_.position(), state_.alignment).value_or(file_.size());
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    Tensor& tensor = state_.tensors[i];
    const auto [offset, bytes] = extents_[i];
    cursor_.enter("tensor", tensor.name);
    if (offset % state_.alignment != 0) {
      cursor_.fail(Fault::bad_alignment,
                   fmt::format("its offset {} is no multiple of the alignment {}", offset, state_.alignment));
    }
    const auto first = base::checked_add(start, offset);
    const auto last = first ? base::checked_add(*first, bytes) : std::nullopt;
    if (!last || *last > file_.size()) {
      cursor_.fail(Fault::out_of_bounds,
                   fmt::format("its {} bytes at offset {} of the data do not lie in the file, which has {} bytes",
                               bytes, offset, file_.size()));
    }
    tensor.data = file_.subspan(*first, bytes);
  }
  check_overlaps();
}

void Parser::check_overlaps() {
  const auto& tensors = state_.tensors;
  auto order = state_.tensor_order;
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return extents_[i].offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto& before = extents_[order[i - 1]];
    if (before.offset + before.bytes <= extents_[order[i]].offset) continue;
    cursor_.enter("tensor", tensors[order[i]].name);
    cursor_.fail(Fault::inconsistent, fmt::format("its data at offset {} begin within those of tensor {}",
                                                  extents_[order[i]].offset, quoted(tensors[order[i - 1]].name)));
  }
}

}  // namespace inlay::inline v0::gguf

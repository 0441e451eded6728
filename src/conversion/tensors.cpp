// Values are read as floats, changed as the family says, and quantized, a few rows at a time.
#include "conversion/tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/half.hpp"
#include "conversion/shape.hpp"
#include "gguf/quantize.hpp"

namespace inlay::inline v0::conversion {
namespace {

constexpr std::size_t values_at_once = 1 << 18;

// Rows and columns of a tensor; a vector is a column.
struct Extent {
  std::int64_t rows, columns;
};

Extent extent_of(const Output& output) {
  if (output.shape.size() == 1) return {output.shape[0], 1};
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < output.shape.size(); ++i) rows *= output.shape[i];
  return {rows, output.shape.back()};
}

// Where row `row` of the output is stored: of the pairs of a head the first are its first half, the second its second.
std::int64_t stored_row(const Output& output, std::int64_t rows, std::int64_t row) {
  if (output.interleaved_heads == 0) return row;
  const std::int64_t size = rows / output.interleaved_heads;
  const std::int64_t within = row % size;
  return row - within + within / 2 + within % 2 * (size / 2);
}

void read_rows(const Output& output, Extent extent, std::int64_t first, std::int64_t count, float* out) {
  const auto columns = static_cast<std::size_t>(extent.columns);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(stored_row(output, extent.rows, first + i)) * columns;
    float* row = out + static_cast<std::size_t>(i) * columns;
    if (!output.stored) {
      std::copy_n(output.values.data() + from, columns, row);
      continue;
    }
    to_floats(output.stored->type, output.stored->data, from, columns, row);
    if (output.shift == 0) continue;
    for (std::size_t c = 0; c < columns; ++c) {
      row[c] += output.shift;
      // A sum of half floats is one.
      if (output.stored->type == Dtype::f16) row[c] = base::half_to_float(base::float_to_half(row[c]));
    }
  }
}

// The type of the first matrix decides, since what config.json says of it is often wrong.
WeightType type_of(const Checkpoint& checkpoint) {
  for (const auto& part : checkpoint.parts()) {
    for (const Stored& tensor : part.tensors) {
      if (tensor.shape.size() < 2) continue;
      if (tensor.type == Dtype::bf16) return WeightType::bf16;
      if (tensor.type == Dtype::f16) return WeightType::f16;
    }
  }
  return WeightType::f16;
}

gguf::Type type_for(const Output& output, WeightType type) {
  if (output.shape.size() == 1 || output.name.ends_with("_norm.weight")) return gguf::Type::F32;
  switch (type) {
    case WeightType::f32: return gguf::Type::F32;
    case WeightType::bf16: return gguf::Type::BF16;
    case WeightType::q8_0: return output.shape.back() % 32 == 0 ? gguf::Type::Q8_0 : gguf::Type::F16;
    default: return gguf::Type::F16;
  }
}

std::int64_t interleaved_heads(const Family& family, const Shape& shape, const Stored& tensor) {
  if (!family.interleaves) return 0;
  const std::string_view name = tensor.name;
  const bool queries = name.find("q_proj.") != name.npos, keys = name.find("k_proj.") != name.npos;
  if (!queries && !keys) return 0;
  const std::int64_t heads = queries ? shape.heads() : shape.key_heads();
  if (heads == 0 || tensor.shape.front() % (2 * heads) != 0) {
    throw Error(
        Errc::format,
        fmt::format("tensor \"{}\" has {} rows, which are no even heads of {}", name, tensor.shape.front(), heads),
        Fault::inconsistent, tensor.name);
  }
  return heads;
}

}  // namespace

Plan plan_tensors(const Family& family, const Json& config, const Checkpoint& checkpoint, std::vector<Extra> extras,
                  WeightType type) {
  Plan plan{type == WeightType::source ? type_of(checkpoint) : type, {}};
  std::set<std::string> names;
  const auto add = [&](Output output) {
    if (!names.insert(output.name).second) {
      throw Error(Errc::format, fmt::format("the folder has tensor \"{}\" under two names", output.name),
                  Fault::duplicate, output.name);
    }
    output.type = type_for(output, plan.type);
    const auto extent = extent_of(output);
    plan.values += static_cast<std::uint64_t>(extent.rows) * static_cast<std::uint64_t>(extent.columns);
    plan.outputs.push_back(std::move(output));
  };
  for (Extra& extra : extras) {
    const auto size = static_cast<std::int64_t>(extra.values.size());
    add({.name = std::move(extra.name), .type = {}, .shape = {size}, .values = std::move(extra.values)});
  }
  const Shape shape(family.architecture, config);
  for (const auto& part : checkpoint.parts()) {
    for (const Stored& tensor : part.tensors) {
      std::string name = tensor_name(family, tensor.name);
      if (name.empty()) continue;
      const bool shifted = family.gemma && tensor.name.ends_with("norm.weight");
      add({.name = std::move(name),
           .type = {},
           .shape = tensor.shape,
           .stored = &tensor,
           .file = &part.file,
           .interleaved_heads = interleaved_heads(family, shape, tensor),
           .shift = shifted ? 1.0f : 0.0f});
    }
  }
  return plan;
}

void write_tensor(const Output& output, gguf::Writer& writer, const std::function<void(std::uint64_t)>& done) {
  const Extent extent = extent_of(output);
  const auto columns = static_cast<std::size_t>(extent.columns);
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, values_at_once / columns));
  std::vector<float> values;
  std::vector<std::byte> blocks;
  for (std::int64_t first = 0; first < extent.rows; first += most) {
    const auto rows = std::min(most, extent.rows - first);
    values.resize(static_cast<std::size_t>(rows) * columns);
    blocks.resize(gguf::bytes_of(output.type, values.size()));
    read_rows(output, extent, first, rows, values.data());
    gguf::quantize(output.type, values.data(), blocks.data(), values.size());
    writer.data(blocks);
    done(values.size());
  }
  if (output.file) output.file->drop(output.stored->data);
}

}  // namespace inlay::inline v0::conversion

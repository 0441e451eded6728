// Finding tensors in the form that a block wants, and packing them piece by piece.
#include "runtime/file_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "gguf/dequantize.hpp"
#include "gguf/types.hpp"

namespace inlay::runtime {

namespace {

inlay_tensor view(const gguf::Tensor& tensor) {
  inlay_tensor t = {};
  t.data = const_cast<std::byte*>(tensor.data.data());
  t.type = tensor.type;
  t.rank = std::uint32_t(tensor.shape.size());
  std::copy(tensor.shape.begin(), tensor.shape.end(), t.shape);
  const auto& info = *gguf::find_type(tensor.type);
  std::int64_t stride = info.block_bytes;
  t.stride[t.rank - 1] = stride;
  if (t.rank > 1) stride = std::int64_t(gguf::bytes_of(info.type, std::uint64_t(t.shape[t.rank - 1])));
  for (auto i = t.rank - 1; i-- > 0;) t.stride[i] = stride, stride *= t.shape[i];
  return t;
}

bool is_weight(std::uint32_t type) {
  using gguf::Type;
  constexpr Type others[] = {Type::I8, Type::I16, Type::I32, Type::I64, Type::F64, Type::Q8_1, Type::Q8_K};
  return std::none_of(std::begin(others), std::end(others), [&](Type other) { return std::uint32_t(other) == type; });
}

// Files may write a vector as [n, 1] or leave trailing ones away.
std::vector<std::int64_t> trimmed(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> out;
  for (const auto n : shape)
    if (n != 1) out.push_back(n);
  return out;
}

}  // namespace

FileWeights::FileWeights(const gguf::File& file, const Device& device, Options options)
    : file_(&file),
      device_(&device),
      options_(std::move(options)),
      found_(device.memory()),
      lacking_(device.memory()),
      blocks_(device.memory()),
      parts_(device.memory()) {}

std::pmr::string FileWeights::key_of(std::string_view name, nn::Weights::Use use) const {
  constexpr const char* endings[] = {"/0", "/1", "/2"};
  std::pmr::string key(name, memory());
  key += endings[int(use)];
  return key;
}

bool FileWeights::is_asked_for(std::string_view name) const {
  using Use = nn::Weights::Use;
  constexpr Use uses[] = {Use::values, Use::matrix, Use::table};
  return std::any_of(std::begin(uses), std::end(uses), [&](Use use) { return found_.contains(key_of(name, use)); });
}

std::size_t FileWeights::numbers_in(const gguf::Tensor& tensor) {
  std::size_t n = 1;
  for (const auto d : tensor.shape) n *= std::size_t(d);
  return n;
}

std::vector<std::int64_t> FileWeights::shape(const std::string& name) const {
  const auto* tensor = file_->tensor(name);
  return tensor ? std::vector(tensor->shape.begin(), tensor->shape.end()) : std::vector<std::int64_t>{};
}

nn::Tensor FileWeights::find(const std::string& name, std::span<const std::int64_t> shape, nn::Weights::Use use) {
  const auto* tensor = file_->tensor(name);
  if (!tensor) {
    if (auto scale = scale_of_ternary(name)) return scale;
    lacking_.note(name);
    return {};
  }
  auto key = key_of(name, use);
  if (const auto known = found_.find(key); known != found_.end()) return known->second;
  if (trimmed(tensor->shape) != trimmed(shape))
    throw Error(Errc::format,
                fmt::format("the tensor {} has the shape [{}], but the model needs [{}]", name,
                            fmt::join(tensor->shape, ", "), fmt::join(shape, ", ")),
                Fault::inconsistent, name);
  if (!is_weight(tensor->type))
    throw Error(Errc::unsupported,
                fmt::format("the tensor {} has the type {}, which is no weight", name, gguf::type_name(tensor->type)),
                Fault::unsupported, name);
  if (options_.known)
    if (const auto known = options_.known->find(key); known != options_.known->end())
      return keep(std::move(key), known->second);
  gguf::Tensor seen = *tensor;
  seen.shape = shape;
  nn::Tensor loaded;
  switch (use) {
    case nn::Weights::Use::values: loaded = values(seen); break;
    case nn::Weights::Use::matrix:
      loaded = is_ternary(*tensor) ? ternary(seen) : packed(seen, INLAY_ROLE_MATRIX);
      break;
    case nn::Weights::Use::table: loaded = packed(seen, INLAY_ROLE_TABLE); break;
  }
  if (!is_asked_for(name)) report(tensor->data.size());
  return keep(std::move(key), loaded);
}

// Memory for one tensor; null where it is only counted. Tensors lie behind one another in large blocks, for which the
// system gives large pages.
void* FileWeights::reserve(std::size_t bytes) {
  constexpr std::size_t line = 64;
  const auto block_bytes = std::size_t{options_.packed || options_.mapped ? 1u : 64u} << 20;
  bytes = (bytes + line - 1) / line * line;
  if (bytes > left_) {
    const auto rest = std::size_t(file_->bytes() - std::min(read_, file_->bytes()));
    left_ = std::max(bytes, std::min(rest, block_bytes));
    bytes_ += left_;
    if (!options_.measure) next_ = static_cast<std::byte*>(blocks_.emplace_back(*device_, left_).data());
  }
  left_ -= bytes;
  return options_.measure ? nullptr : std::exchange(next_, next_ + bytes);
}

nn::Tensor FileWeights::constant(std::span<const float> values) {
  nn::Tensor t;
  t.view.type = INLAY_F32, t.view.rank = 1;
  t.view.shape[0] = std::int64_t(values.size()), t.view.stride[0] = sizeof(float);
  t.view.data = reserve(values.size_bytes());
  if (options_.measure) t.view.data = blocks_.emplace_back(*device_, values.size_bytes()).data();
  device_->table().upload(device_->handle(), t.view.data, values.data(), values.size_bytes());
  return t;
}

nn::Tensor FileWeights::values(const gguf::Tensor& tensor) {
  const auto n = numbers_in(tensor);
  std::pmr::vector<float> numbers(n, memory());
  gguf::dequantize(gguf::find_type(tensor.type)->type, tensor.data.data(), numbers.data(), n);
  if (const auto bad = std::find_if_not(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
      bad != numbers.end())
    throw Error(Errc::format, fmt::format("the tensor {} holds a number that is not finite", tensor.name),
                Fault::bad_value, std::string(tensor.name));
  nn::Tensor t = constant(numbers);
  t.view.rank = std::uint32_t(tensor.shape.size());
  std::int64_t stride = sizeof(float);
  for (auto i = tensor.shape.size(); i-- > 0;)
    t.view.shape[i] = tensor.shape[i], t.view.stride[i] = stride, stride *= tensor.shape[i];
  return t;
}

nn::Tensor FileWeights::packed(const gguf::Tensor& tensor, std::uint32_t role) {
  const auto source = view(tensor);
  const auto& table = device_->table();
  nn::Tensor t;
  t.view = {};
  const auto bytes = table.pack(device_->handle(), &source, role, 0, 0, &t.view);
  if (bytes == 0 || (options_.mapped && bytes != SIZE_MAX)) {  // the file's bytes will do: they stay mapped
    t.view = source;
    return t;
  }
  const auto key = PackedFile::part_key(tensor, role);
  if (options_.packed) {
    if (const auto kept = options_.packed->find(key); kept.size() == bytes) {
      t.view.data = const_cast<std::byte*>(kept.data());
      return t;
    }
  }
  t.view.data = reserve(bytes);
  if (options_.measure) {
    t.view.data = source.data;
    return t;
  }
  pack_rows(source, role, t.view, tensor.name);
  parts_.push_back({key, {static_cast<const std::byte*>(t.view.data), bytes}});
  if (tensor.type == file_->tensor(tensor.name)->type) file_->drop(tensor.data);
  return t;
}

void FileWeights::pack_rows(const inlay_tensor& source, std::uint32_t role, inlay_tensor& packed,
                            std::string_view name) {
  const std::int64_t rows = source.shape[source.rank - 2], matrices = source.rank == 3 ? source.shape[0] : 1;
  constexpr std::int64_t piece = 64;
  const auto pieces = (rows + piece - 1) / piece;
  std::atomic<bool> good = true;
  options_.team->each(int(matrices * pieces), [&](int chunk) {
    const auto first = chunk % pieces * piece, matrix = chunk / pieces;
    auto out = packed;
    const auto count = std::min(piece, rows - first);
    if (device_->table().pack(device_->handle(), &source, role, matrix * rows + first, count, &out) == SIZE_MAX)
      good = false;
  });
  if (!good)
    throw Error(Errc::format, fmt::format("the tensor {} holds a scale or number that is not finite", name),
                Fault::bad_value, std::string(name));
}

void FileWeights::report(std::uint64_t bytes) {
  read_ += bytes;
  if (options_.progress && !options_.progress(std::min(1.f, float(double(read_) / double(file_->bytes())))))
    throw Error(Errc::cancelled, "loading was cancelled");
}

void FileWeights::finish() { report(file_->bytes() - std::min(read_, file_->bytes())); }

std::vector<std::string> FileWeights::unused() const {
  std::vector<std::string> names;
  for (const auto& tensor : file_->tensors())
    if (!is_asked_for(tensor.name)) names.emplace_back(tensor.name);
  return names;
}

}  // namespace inlay::runtime

// The header is read whole, then every tensor's extent is held against the file's length and its neighbours.
#include "conversion/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/half.hpp"
#include "conversion/json.hpp"
#include "inlay/error.hpp"

namespace inlay::inline v0::conversion {
namespace {

constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t most_dimensions = 4, most_name_bytes = 512;

[[noreturn]] void fail(const std::string& file, Fault fault, const std::string& what, std::string_view tensor = {}) {
  throw Error(Errc::format, fmt::format("{}: {}", file, what), fault, std::string(tensor));
}

// A tensor's name for messages, whatever it contains.
std::string shown(std::string_view name) {
  std::string text = "tensor \"";
  for (const char c : name.substr(0, 80)) text += c < ' ' || c > '~' ? '?' : c;
  return text + '"';
}

std::string_view header_of(std::span<const std::byte> file, const std::string& file_name) {
  std::uint64_t size = 0;
  if (file.size() < sizeof(size)) fail(file_name, Fault::truncated, "is too short for a header");
  std::memcpy(&size, file.data(), sizeof(size));
  if (size > most_header_bytes) fail(file_name, Fault::limit, fmt::format("a header of {} bytes is too long", size));
  if (size > file.size() - sizeof(size)) fail(file_name, Fault::truncated, "ends within its header");
  return {reinterpret_cast<const char*>(file.data()) + sizeof(size), static_cast<std::size_t>(size)};
}

class Reader {
 public:
  Reader(std::span<const std::byte> data, const std::string& file) : data_(data), file_(file) {}

  Stored tensor(const Member& member) {
    name_ = member.name;
    if (name_.empty() || name_.size() > most_name_bytes) refuse(Fault::bad_string, "has no usable name");
    Stored stored{name_, type(member.value), shape(member.value), {}};
    const auto begin = offset(member.value, 0), end = offset(member.value, 1);
    if (begin > end || end > data_.size()) refuse(Fault::out_of_bounds, "lies outside of the file");
    std::uint64_t bytes = bytes_of(stored.type);
    for (const std::int64_t size : stored.shape) {
      const auto product = base::checked_multiply(bytes, static_cast<std::uint64_t>(size));
      if (!product) refuse(Fault::overflow, "has too many values");
      bytes = *product;
    }
    if (bytes != end - begin) refuse(Fault::inconsistent, "has other bytes than its shape needs");
    stored.data = data_.subspan(begin, bytes);
    return stored;
  }

 private:
  [[noreturn]] void refuse(Fault fault, std::string_view what) const {
    fail(file_, fault, fmt::format("{} {}", shown(name_), what), name_);
  }

  Dtype type(const Json& entry) const {
    const Json* found = entry.find("dtype");
    const auto text = found ? found->text() : std::string_view();
    if (text == "F32") return Dtype::f32;
    if (text == "F16") return Dtype::f16;
    if (text == "BF16") return Dtype::bf16;
    refuse(Fault::bad_type, "has a type other than F32, F16 and BF16");
  }

  std::vector<std::int64_t> shape(const Json& entry) const {
    const Json* found = entry.find("shape");
    if (!found || !found->as<Json::List>()) refuse(Fault::bad_dims, "has no shape");
    if (found->items().empty() || found->items().size() > most_dimensions)
      refuse(Fault::bad_dims, "has no or too many dimensions");
    std::vector<std::int64_t> sizes;
    for (const Json& item : found->items()) {
      const auto* size = item.as<std::int64_t>();
      if (!size || *size <= 0) refuse(Fault::bad_dims, "has a dimension that is no positive number");
      sizes.push_back(*size);
    }
    return sizes;
  }

  std::uint64_t offset(const Json& entry, std::size_t i) const {
    const Json* found = entry.find("data_offsets");
    const Json* item = found && found->items().size() == 2 ? found->at(i) : nullptr;
    const auto* number = item ? item->as<std::int64_t>() : nullptr;
    if (!number || *number < 0) refuse(Fault::bad_value, "has no valid data_offsets");
    return static_cast<std::uint64_t>(*number);
  }

  std::span<const std::byte> data_;
  const std::string& file_;
  std::string name_;
};

}  // namespace

std::vector<Stored> read_safetensors(std::span<const std::byte> file, const std::string& file_name) {
  const auto header = header_of(file, file_name);
  const auto data = file.subspan(sizeof(std::uint64_t) + header.size());
  const Json json = parse_json(header, file_name);
  if (!json.as<Json::Object>()) fail(file_name, Fault::wrong_type, "its header is no object");
  std::vector<Stored> tensors;
  Reader reader(data, file_name);
  for (const Member& member : json.members()) {
    if (member.name != "__metadata__") tensors.push_back(reader.tensor(member));
  }
  std::ranges::stable_sort(tensors, {}, [](const Stored& tensor) { return tensor.data.data(); });
  const std::byte* end = data.data();
  for (const Stored& tensor : tensors) {
    if (tensor.data.data() != end)
      fail(file_name, Fault::inconsistent,
           fmt::format("{} overlaps the one before it, or leaves a hole", shown(tensor.name)), tensor.name);
    end = tensor.data.data() + tensor.data.size();
  }
  if (end != data.data() + data.size()) fail(file_name, Fault::inconsistent, "goes on behind its last tensor");
  return tensors;
}

void to_floats(Dtype type, std::span<const std::byte> data, std::size_t first, std::size_t count, float* out) {
  const std::byte* from = data.data() + first * bytes_of(type);
  if (type == Dtype::f32) {
    std::memcpy(out, from, count * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half;
    std::memcpy(&half, from + i * sizeof(half), sizeof(half));
    out[i] = type == Dtype::f16 ? base::half_to_float(half) : base::bfloat16_to_float(half);
  }
}

}  // namespace inlay::inline v0::conversion

// Metadata and weights asked for by name: what is missing or odd is an error that says which.
#include "inlay/nn/weights.hpp"

#include <cmath>
#include <limits>

namespace inlay {
inline namespace v0 {
namespace nn {

std::optional<double> Metadata::number(std::string_view key, std::size_t i) const {
  return source_->number(prefix_ + std::string(key), i);
}

int Metadata::integer(std::string_view key, int otherwise) const { return integer(key, 0, otherwise); }

int Metadata::integer(std::string_view key, int layer, int otherwise) const {
  const auto value = number(key, size(key) > 1 ? std::size_t(layer) : 0);
  if (!value) {
    if (size(key) > 1) refuse(key, "has no entry for layer " + std::to_string(layer));
    return otherwise;
  }
  if (!(*value >= std::numeric_limits<int>::min() && *value <= std::numeric_limits<int>::max()))
    refuse(key, "is " + std::to_string(*value) + ", out of range");
  return int(*value);
}

void Metadata::need(std::string_view key) const {
  const auto whole = prefix_ + std::string(key);
  if (!has(key)) throw Error(Errc::format, "the key " + whole + " is missing", Fault::missing_key, whole);
}

int Metadata::integer(std::string_view key) const {
  need(key);
  return integer(key, 0);
}

float Metadata::real(std::string_view key, float otherwise) const { return real(key, 0, otherwise); }

float Metadata::real(std::string_view key, int layer, float otherwise) const {
  const auto value = number(key, size(key) > 1 ? std::size_t(layer) : 0);
  if (!value) {
    if (size(key) > 1) refuse(key, "has no entry for layer " + std::to_string(layer));
    return otherwise;
  }
  if (!std::isfinite(*value)) refuse(key, "is not a finite number");
  return float(*value);
}

float Metadata::threshold(std::string_view key, int layer, float otherwise) const {
  constexpr double none = -std::numeric_limits<double>::infinity();
  if (number(key, size(key) > 1 ? std::size_t(layer) : 0) == none) return float(none);
  return real(key, layer, otherwise);
}

float Metadata::real(std::string_view key) const {
  need(key);
  return real(key, 0, 0.f);
}

bool Metadata::flag(std::string_view key, bool otherwise) const { return number(key, 0).value_or(otherwise) != 0; }

bool Metadata::flag(std::string_view key, int layer, bool otherwise) const {
  return integer(key, layer, otherwise) != 0;
}

float Metadata::shared(std::string_view key, int layer, float otherwise) const {
  const auto value = source_->number(key, source_->size(key) > 1 ? std::size_t(layer) : 0);
  if (value && !std::isfinite(*value))
    throw Error(Errc::format, "the key " + std::string(key) + " is not a finite number", Fault::bad_value,
                std::string(key));
  return value ? float(*value) : otherwise;
}

float Metadata::shared(std::string_view key, int layer) const {
  if (source_->size(key) == 0)
    throw Error(Errc::format, "the key " + std::string(key) + " is missing", Fault::missing_key, std::string(key));
  return shared(key, layer, 0.f);
}

std::string_view Metadata::text(std::string_view key, std::string_view otherwise) const {
  return source_->text(prefix_ + std::string(key)).value_or(otherwise);
}

bool Metadata::has(std::string_view key) const { return size(key) > 0; }
std::size_t Metadata::size(std::string_view key) const { return source_->size(prefix_ + std::string(key)); }

void Metadata::refuse(std::string_view key, const std::string& why) const {
  const auto whole = prefix_ + std::string(key);
  throw Error(Errc::format, "the key " + whole + " " + why, Fault::bad_value, whole);
}

float Weights::scale(const std::string& name) const {
  const auto factor = maybe(name + ".scale", {1});
  return factor ? *static_cast<const float*>(factor.view.data) : 1;
}

void Weights::refuse(const std::string& name, const std::string& why) const {
  throw Error(Errc::unsupported, "the tensor " + prefix_ + name + ": " + why, Fault::unsupported, prefix_ + name);
}

Tensor Weights::need(const std::string& name, Shape shape, Use use) const {
  auto found = find(name, shape, use);
  if (!found)
    throw Error(Errc::format, "the tensor " + prefix_ + name + " is missing", Fault::missing_tensor, prefix_ + name);
  return found;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay

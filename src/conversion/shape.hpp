// The hyper-parameters of config.json, under the names that both of its generations have for them.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "conversion/family.hpp"
#include "conversion/folder.hpp"

namespace inlay::inline v0::conversion {

class Shape {
 public:
  Shape(std::string_view architecture, const Json& config)
      : settings("config.json", config), architecture_(architecture), rope_(find_rope(config)) {}

  Settings settings;

  std::string key(std::string_view name) const { return architecture_ + "." + std::string(name); }
  std::uint32_t heads() const { return settings.count("num_attention_heads"); }
  std::uint32_t key_heads() const { return settings.count("num_key_value_heads", heads()); }
  // Columns of a head: as given, else the width's share.
  std::uint32_t head() const;

  // ---- rotations: "rope_parameters", or "rope_scaling" with its bases beside it
  Settings rope() const { return {"config.json", rope_ ? *rope_ : none_}; }
  std::string_view rope_type() const;
  double rope_base(double otherwise) const;
  double local_rope_base(double otherwise) const;
  std::uint32_t original_context() const;
  std::vector<float> rope_list(std::string_view name) const;

 private:
  static const Json* find_rope(const Json& config);

  std::string architecture_;
  const Json* rope_;
  Json none_ = {Json::Object()};
};

// The keys that every family has: sizes and heads.
void describe_counts(const Shape& shape, Metadata& metadata);

// Those, and the epsilon of norms unless the folder states one.
void describe_sizes(const Shape& shape, double epsilon, Metadata& metadata);

// The keys that most families share: sizes, heads, norm, rotations.
void describe_common(const Shape& shape, double rope_base, Metadata& metadata);

}  // namespace inlay::inline v0::conversion

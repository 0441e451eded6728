// Phi rotates a part of each head, Phi 3 by factors that depend on the length of the context.
#include "conversion/phi.hpp"

#include <cmath>

#include "conversion/shape.hpp"

namespace inlay::inline v0::conversion {
namespace {

using Extras = std::vector<Extra>;

// Columns of a head that are rotated: a share of the width is, divided among the heads.
std::uint32_t rotated_columns(const Shape& shape, double otherwise) {
  constexpr std::string_view name = "partial_rotary_factor";
  const auto share = shape.rope().find(name) ? shape.rope().real(name) : shape.settings.real(name);
  const double rotating = share.value_or(otherwise) * shape.settings.count("hidden_size");
  if (!(rotating >= 0 && rotating <= INT32_MAX) || shape.heads() == 0)
    shape.settings.fail(Fault::bad_value, name, "is no share of a head");
  return static_cast<std::uint32_t>(rotating) / shape.heads();
}

// Two sets of factors for rotations, and by how much attention sharpens with the longer one.
void add_phi3_factors(const Shape& shape, std::uint32_t rotated, Metadata& metadata, Extras& extras) {
  const Settings rope = shape.rope();
  const auto longer = shape.rope_list("long_factor"), shorter = shape.rope_list("short_factor");
  if (longer.empty()) return;
  if (longer.size() != rotated / 2 || shorter.size() != longer.size())
    rope.fail(Fault::inconsistent, "long_factor", "or \"short_factor\" has not one number for each rotation");
  const double original = shape.original_context();
  const double scale = shape.settings.count("max_position_embeddings") / original;
  const auto type = shape.rope_type();
  double sharper = 1;
  if (type == "yarn") {
    if (scale > 1) sharper = 0.1 * std::log(scale) + 1;
  } else if (type == "su" || type == "longrope") {
    if (scale > 1) sharper = std::sqrt(1 + std::log(scale) / std::log(original));
  } else {
    rope.fail(Fault::unsupported, "type", "is a scaling of rotations that is not known");
  }
  metadata.set(shape.key("rope.scaling.attn_factor"), static_cast<float>(sharper));
  extras.push_back({"rope_factors_long.weight", longer});
  extras.push_back({"rope_factors_short.weight", shorter});
}

}  // namespace

void describe_phi2(const Shape& shape, Metadata& metadata, Extras&) {
  describe_counts(shape, metadata);
  metadata.set(shape.key("attention.layer_norm_epsilon"),
               static_cast<float>(shape.settings.real("layer_norm_eps").value_or(1e-5)));
  metadata.set(shape.key("rope.dimension_count"), rotated_columns(shape, 0.5));
  metadata.set("tokenizer.ggml.add_bos_token", false);
}

void describe_phi3(const Shape& shape, Metadata& metadata, Extras& extras) {
  const Settings& settings = shape.settings;
  const auto rotated = rotated_columns(shape, 1);
  describe_sizes(shape, 1e-5, metadata);
  metadata.set(shape.key("rope.scaling.original_context_length"), shape.original_context());
  metadata.set(shape.key("rope.dimension_count"), rotated);
  metadata.set(shape.key("rope.freq_base"), static_cast<float>(shape.rope_base(10000)));
  metadata.set(shape.key("attention.sliding_window"), settings.count("sliding_window", 0));
  add_phi3_factors(shape, rotated, metadata, extras);
}

}  // namespace inlay::inline v0::conversion

// Where a setting has moved over the years, the newer place counts first.
#include "conversion/shape.hpp"

namespace inlay::inline v0::conversion {

const Json* Shape::find_rope(const Json& config) {
  const Json* found = config.find("rope_parameters");
  if (!found) found = config.find("rope_scaling");
  const Json* full = found ? found->find("full_attention") : nullptr;
  return full ? full : found;
}

std::uint32_t Shape::head() const {
  constexpr std::uint32_t most_columns = 1 << 16;
  if (heads() == 0) settings.fail(Fault::bad_value, "num_attention_heads", "is 0");
  const auto size = settings.find("head_dim") ? settings.count("head_dim") : settings.count("hidden_size") / heads();
  if (size > most_columns) settings.fail(Fault::limit, "head_dim", "is too large");
  return size;
}

std::string_view Shape::rope_type() const {
  if (const auto type = rope().text("rope_type")) return *type;
  return rope().text("type").value_or("");
}

double Shape::rope_base(double otherwise) const {
  if (const auto base = rope().real("rope_theta")) return *base;
  return settings.real("rope_theta").value_or(otherwise);
}

double Shape::local_rope_base(double otherwise) const {
  const Json* all = settings.find("rope_parameters");
  if (const Json* local = all ? all->find("sliding_attention") : nullptr) {
    if (const auto base = Settings("config.json", *local).real("rope_theta")) return *base;
  }
  return settings.real("rope_local_base_freq").value_or(otherwise);
}

std::uint32_t Shape::original_context() const {
  constexpr std::string_view name = "original_max_position_embeddings";
  if (rope().find(name)) return rope().count(name);
  return settings.find(name) ? settings.count(name) : settings.count("max_position_embeddings");
}

std::vector<float> Shape::rope_list(std::string_view name) const {
  std::vector<float> numbers;
  const Json* list = rope().find(name);
  if (!list) return numbers;
  for (const Json& item : list->items()) {
    if (const auto* real = item.as<double>()) {
      numbers.push_back(static_cast<float>(*real));
    } else if (const auto* integer = item.as<std::int64_t>()) {
      numbers.push_back(static_cast<float>(*integer));
    } else {
      rope().fail(Fault::wrong_type, name, "has an item that is no number");
    }
  }
  return numbers;
}

namespace {

void describe_scaling(const Shape& shape, Metadata& metadata) {
  const Settings rope = shape.rope();
  const auto type = shape.rope_type();
  const auto factor = rope.real("factor");
  const auto set = [&](std::string_view name, std::optional<double> value) {
    if (value) metadata.set(shape.key(name), static_cast<float>(*value));
  };
  if (type == "longrope" || type == "su") {
    metadata.set(shape.key("rope.scaling.type"), std::string("longrope"));
  } else if ((type == "linear" || type == "yarn") && factor) {
    metadata.set(shape.key("rope.scaling.type"), std::string(type));
    set("rope.scaling.factor", factor);
    if (type == "linear") return;
    metadata.set(shape.key("rope.scaling.original_context_length"), shape.original_context());
    set("rope.scaling.yarn_ext_factor", rope.real("extrapolation_factor"));
    set("rope.scaling.yarn_attn_factor",
        rope.find("attention_factor") ? rope.real("attention_factor") : rope.real("attn_factor"));
    set("rope.scaling.yarn_beta_fast", rope.real("beta_fast"));
    set("rope.scaling.yarn_beta_slow", rope.real("beta_slow"));
  } else if (!type.empty() && type != "default" && type != "llama3") {
    rope.fail(Fault::unsupported, "rope_type", "is a scaling of rotations that is not known");
  }
}

}  // namespace

void describe_counts(const Shape& shape, Metadata& metadata) {
  const Settings& settings = shape.settings;
  metadata.set(shape.key("block_count"), settings.count("num_hidden_layers"));
  metadata.set(shape.key("context_length"), settings.count("max_position_embeddings"));
  metadata.set(shape.key("embedding_length"), settings.count("hidden_size"));
  metadata.set(shape.key("feed_forward_length"), settings.count("intermediate_size"));
  metadata.set(shape.key("attention.head_count"), shape.heads());
  metadata.set(shape.key("attention.head_count_kv"), shape.key_heads());
}

void describe_sizes(const Shape& shape, double epsilon, Metadata& metadata) {
  describe_counts(shape, metadata);
  metadata.set(shape.key("attention.layer_norm_rms_epsilon"),
               static_cast<float>(shape.settings.real("rms_norm_eps").value_or(epsilon)));
}

void describe_common(const Shape& shape, double rope_base, Metadata& metadata) {
  describe_sizes(shape, 1e-6, metadata);
  metadata.set(shape.key("rope.freq_base"), static_cast<float>(shape.rope_base(rope_base)));
  describe_scaling(shape, metadata);
}

}  // namespace inlay::inline v0::conversion

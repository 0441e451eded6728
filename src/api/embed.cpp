// Embeddings: an encoder's rows, pooled and brought to unit length.
#include <algorithm>
#include <cmath>

#include "api/guarded.hpp"
#include "api/state.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

Pooling pooling_of(const ModelState& model, Pooling asked) {
  if (asked != Pooling::model) return asked;
  // The last is of rerankers, which judge the first row.
  constexpr Pooling kinds[] = {Pooling::none, Pooling::mean, Pooling::cls, Pooling::last, Pooling::cls};
  const auto kind = model.file.integer(model.info.architecture + ".pooling_type", 1);
  if (kind < 0 || kind >= std::int64_t(std::size(kinds)))
    throw Error(Errc::unsupported, "the pooling type " + std::to_string(kind) + " is not known", Fault::unsupported,
                "pooling_type");
  return kinds[kind];
}

using Rows = std::pmr::vector<float>;

Rows pooled(Rows rows, std::size_t width, Pooling pooling) {
  auto* const memory = rows.get_allocator().resource();
  const auto n = rows.size() / width;
  if (pooling == Pooling::none) return rows;
  if (pooling == Pooling::cls) return {rows.begin(), rows.begin() + std::ptrdiff_t(width), memory};
  if (pooling == Pooling::last) return {rows.end() - std::ptrdiff_t(width), rows.end(), memory};
  Rows mean(width, memory);
  for (std::size_t i = 0; i < width; ++i) {
    double sum = 0;
    for (std::size_t row = 0; row < n; ++row) sum += double(rows[row * width + i]);
    mean[i] = float(sum / double(n));
  }
  return mean;
}

void normalize(std::span<float> row) {
  double sum = 0;
  for (const float x : row) sum += double(x) * x;
  if (sum == 0) return;
  for (float& x : row) x = float(x / std::sqrt(sum));
}

void add(const ModelState& model, std::span<const TokenId> tokens, const EmbedOptions& options, Embeddings& out) {
  auto& engine = *model.engine;
  if (tokens.empty()) throw Error(Errc::argument, "there is nothing to embed: the text has no tokens");
  if (tokens.size() > std::size_t(engine.context()))
    throw Error(Errc::argument,
                std::to_string(tokens.size()) + " tokens are more than the model's " + std::to_string(engine.context()),
                Fault::limit, "tokens");
  for (const auto id : tokens)
    if (id < 0 || id >= engine.vocabulary())
      throw Error(Errc::argument, "the token " + std::to_string(id) + " is not in the vocabulary", Fault::out_of_bounds,
                  "tokens");
  auto rows = engine.encode(tokens);
  out.width = rows.size() / tokens.size();
  auto result = pooled(std::move(rows), out.width, pooling_of(model, options.pooling));
  for (std::size_t i = 0; options.normalize && i < result.size(); i += out.width)
    normalize(std::span(result).subspan(i, out.width));
  out.values.insert(out.values.end(), result.begin(), result.end());
}

void check(const ModelState& model) {
  if (!model.engine) throw Error(Errc::argument, "only the vocabulary of this model was loaded");
  if (!model.engine->encodes() && !model.engine->reads_source())
    throw Error(Errc::argument, "this model is no encoder: it cannot embed texts");
}

}  // namespace

Embeddings Model::embed(std::span<const TokenId> tokens, EmbedOptions options) const {
  return guarded([&] {
    check(*state_);
    Embeddings out;
    add(*state_, tokens, options, out);
    return out;
  });
}

Embeddings Model::embed(std::span<const std::string_view> texts, EmbedOptions options) const {
  return guarded([&] {
    check(*state_);
    Embeddings out;
    for (const auto text : texts) add(*state_, state_->tokenizer->encode(text, {.add_special = true}), options, out);
    return out;
  });
}

Embeddings Model::embed(std::string_view text, EmbedOptions options) const {
  return embed(std::span<const std::string_view>(&text, 1), options);
}

}  // namespace v0
}  // namespace inlay

// Embeddings: the rows of a text's tokens, pooled and brought to unit length.
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
  const auto key = model.info.architecture + ".pooling_type";
  const bool decodes = model.engine->decodes();
  if (decodes && !model.file.find(key))
    throw Error(Errc::argument, "the file does not say how its rows are pooled, by " + key + ": choose last or mean",
                Fault::missing_key, key);
  // The last is of rerankers: encoders judge the first row, and decoders the last.
  const Pooling kinds[] = {Pooling::none, Pooling::mean, Pooling::cls, Pooling::last,
                           decodes ? Pooling::last : Pooling::cls};
  const auto kind = model.file.integer(key, 1);
  if (kind < 0 || kind >= std::int64_t(std::size(kinds)))
    throw Error(Errc::unsupported, "the pooling type " + std::to_string(kind) + " is not known", Fault::unsupported,
                "pooling_type");
  return kinds[kind];
}

using Rows = std::pmr::vector<float>;

// Takes the rows of a text, of some tokens at a time, and keeps of them what the pooling needs.
class Pooled {
 public:
  Pooled(Pooling pooling, std::pmr::memory_resource* memory) : pooling_(pooling), kept_(memory), sums_(memory) {}

  void add(std::span<const float> rows, std::size_t tokens) {
    const auto width = rows.size() / tokens;
    if (pooling_ == Pooling::none) kept_.insert(kept_.end(), rows.begin(), rows.end());
    if (pooling_ == Pooling::cls && tokens_ == 0) kept_.assign(rows.begin(), rows.begin() + std::ptrdiff_t(width));
    if (pooling_ == Pooling::last) kept_.assign(rows.end() - std::ptrdiff_t(width), rows.end());
    if (pooling_ == Pooling::mean) {
      sums_.resize(width);
      for (std::size_t i = 0; i < rows.size(); ++i) sums_[i % width] += double(rows[i]);
    }
    tokens_ += tokens;
  }

  Rows result() {
    for (const double sum : sums_) kept_.push_back(float(sum / double(tokens_)));
    return std::move(kept_);
  }

 private:
  Pooling pooling_;
  Rows kept_;
  std::pmr::vector<double> sums_;
  std::size_t tokens_ = 0;
};

void normalize(std::span<float> row) {
  double sum = 0;
  for (const float x : row) sum += double(x) * x;
  if (sum == 0) return;
  for (float& x : row) x = float(x / std::sqrt(sum));
}

using Shared = std::shared_ptr<const ModelState>;

// What a decoder makes of tokens, before its head. They stay apart from what sessions have read.
void read(const Shared& model, std::span<const TokenId> tokens, Pooled& pooled) {
  SessionState session(model, {});
  session.append(tokens);
  auto& sequence = session.sequence;
  sequence.shareable = false;
  Rows rows(model->memory);
  while (sequence.cached < tokens.size()) {
    const auto count = std::min(tokens.size() - sequence.cached, std::size_t(session.engine().chunk()));
    const runtime::Reading reading{&sequence, int(count), {}};
    session.engine().read({&reading, 1}, rows, {}, nullptr, true);
    pooled.add(rows, count);
  }
}

void check(const ModelState& model, std::span<const TokenId> tokens) {
  if (tokens.empty()) throw Error(Errc::argument, "there is nothing to embed: the text has no tokens");
  if (tokens.size() > std::size_t(model.engine->context()))
    throw Error(
        Errc::argument,
        std::to_string(tokens.size()) + " tokens are more than the model's " + std::to_string(model.engine->context()),
        Fault::limit, "tokens");
  for (const auto id : tokens)
    if (id < 0 || id >= model.engine->vocabulary())
      throw Error(Errc::argument, "the token " + std::to_string(id) + " is not in the vocabulary", Fault::out_of_bounds,
                  "tokens");
}

void add(const Shared& model, std::span<const TokenId> tokens, const EmbedOptions& options, Embeddings& out) {
  check(*model, tokens);
  const auto pooling = pooling_of(*model, options.pooling);
  Pooled pooled(pooling, model->memory);
  if (model->engine->decodes())
    read(model, tokens, pooled);
  else
    pooled.add(model->engine->encode(tokens, tokens.size()), tokens.size());
  auto result = pooled.result();
  out.width = result.size() / (pooling == Pooling::none ? tokens.size() : 1);
  for (std::size_t i = 0; options.normalize && i < result.size(); i += out.width)
    normalize(std::span(result).subspan(i, out.width));
  out.values.insert(out.values.end(), result.begin(), result.end());
}

void check(const ModelState& model) {
  if (!model.engine) throw Error(Errc::argument, "only the vocabulary of this model was loaded");
  if (model.engine->looks_ahead())
    throw Error(Errc::argument, "this model fills texts in: it cannot embed them", Fault::unsupported,
                "general.architecture");
}

}  // namespace

Embeddings Model::embed(std::span<const TokenId> tokens, EmbedOptions options) const {
  return guarded([&] {
    check(*state_);
    Embeddings out;
    add(state_, tokens, options, out);
    return out;
  });
}

Embeddings Model::embed(std::span<const std::string_view> texts, EmbedOptions options) const {
  return guarded([&] {
    check(*state_);
    Embeddings out;
    for (const auto text : texts) add(state_, state_->tokenizer->encode(text, {.add_special = true}), options, out);
    return out;
  });
}

Embeddings Model::embed(std::string_view text, EmbedOptions options) const {
  return embed(std::span<const std::string_view>(&text, 1), options);
}

}  // namespace v0
}  // namespace inlay

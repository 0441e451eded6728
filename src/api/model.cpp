// Models: loaded, planned, and what can be asked of them without a session.
#include "inlay/model.hpp"

#include <algorithm>

#include "api/draft_heads.hpp"
#include "api/draft_model.hpp"
#include "api/guarded.hpp"
#include "api/loading.hpp"
#include "text/stream_decoder.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

Model::Model(std::shared_ptr<const ModelState> state) noexcept : state_(std::move(state)) {}

Model Model::load(std::string_view path, const LoadOptions& options) {
  return guarded([&] {
    return Model(load_state(gguf::File::open(path, {.memory = options.memory}), options, std::string(path)));
  });
}

Model Model::load(std::span<const std::byte> file, const LoadOptions& options) {
  return guarded([&] { return Model(load_state(gguf::File::read(file, options.memory), options)); });
}

Plan Model::plan(std::string_view path, const LoadOptions& options) {
  return guarded([&] {
    const auto engines = measured_engines(path, options);
    const auto& engine = engines.front();
    const bool apart = options.disk_bytes > 0;
    std::uint64_t weights = 0, scratch = 0;
    for (const auto& one : engines) weights += one->weight_bytes(), scratch += one->scratch_bytes();
    return Plan{.weights = weights,
                .scratch = scratch,
                .page = engine->page_bytes(),
                .per_token = (engine->page_bytes() + std::size_t(engine->page()) - 1) / std::size_t(engine->page()),
                .segment = engine->segment_bytes(apart),
                .states = engine->states_bytes(apart)};
  });
}

std::vector<std::string> Model::unused_tensors(std::string_view path, const LoadOptions& options) {
  return guarded([&] {
    const auto engines = measured_engines(path, options);
    auto unused = engines.front()->unused_tensors();
    for (const auto& engine : engines)
      std::erase_if(unused, [&](const auto& name) { return std::ranges::count(engine->unused_tensors(), name) == 0; });
    return unused;
  });
}

Session Model::session(const SessionOptions& options) const {
  if (!state_->engine) throw Error(Errc::argument, "only the vocabulary of this model was loaded");
  if (state_->engine->encodes())
    throw Error(Errc::argument, "this model is an encoder: it embeds texts and generates none");
  if (state_->engine->answers())
    throw Error(Errc::argument, "this model judges texts, by rerank(), and generates none");
  if (options.drop < 0)
    throw Error(Errc::argument, "SessionOptions::drop must not be negative", Fault::bad_value, "drop");
  if (options.keep < 0 || (options.when_full == WhenFull::drop && options.keep + 2 > state_->engine->context()))
    throw Error(Errc::argument, "SessionOptions::keep must not be negative, and leave room in the context",
                Fault::bad_value, "keep");
  if (options.when_full == WhenFull::drop && !state_->engine->can_drop())
    throw Error(Errc::unsupported,
                "this model cannot drop tokens: its cache depends on positions by more than rotations",
                Fault::unsupported, "when_full");
  return guarded([&] {
    auto session = base::make_shared<SessionState>(state_->memory, state_, options);
    session->options.draft = nullptr;  // the caller's; what it refers to is kept
    if (state_->heads && options.speculate)
      session->guesser = base::make_shared<DraftHeads>(state_->memory, *state_->heads);
    if (options.draft)
      session->guesser =
          base::make_shared<DraftModel>(state_->memory, options.draft->session({.speculate = false}).state_, *state_);
    return Session(std::move(session));
  });
}

std::vector<TokenId> Model::tokenize(std::string_view text, TokenizeOptions options) const {
  return guarded([&] {
    const auto ids =
        state_->tokenizer->encode(text, {.add_special = options.specials, .parse_special = options.parse_specials});
    return std::vector(ids.begin(), ids.end());
  });
}

std::string Model::detokenize(std::span<const TokenId> tokens, DetokenizeOptions options) const {
  return guarded([&] {
    return state_->tokenizer->decode(
        tokens, {.remove_special = options.remove_specials, .unparse_special = options.show_specials});
  });
}

std::vector<std::string> Model::detokenize_stream(std::span<const TokenId> tokens) const {
  return guarded([&] {
    text::StreamDecoder decoder(*state_->tokenizer);
    std::vector<std::string> shown;
    for (const auto id : tokens) shown.emplace_back(decoder.push(id));
    shown.emplace_back(decoder.flush());
    return shown;
  });
}

std::string Model::piece(TokenId id, bool show_special) const {
  return guarded([&] {
    std::string bytes;
    state_->tokenizer->append_piece(id, show_special, bytes);
    return bytes;
  });
}

const ModelInfo& Model::info() const& noexcept { return state_->info; }

void Model::trim() const {
  if (state_->engine) state_->engine->trim();
}

}  // namespace v0
}  // namespace inlay

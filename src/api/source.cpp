// Sources: what sessions of an encoder-decoder read before they write.
#include "api/generation.hpp"
#include "api/guarded.hpp"
#include "api/state.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

text::TokenIds SessionState::encode_prompt(std::string_view text, bool parse_specials) const {
  if (!engine().reads_source()) return encode(text, parse_specials);
  if (text.empty()) return text::TokenIds(memory());  // goes on with the source there is
  return model->tokenizer->encode(text, {.add_special = true, .parse_special = parse_specials});
}

void SessionState::require_source() const {
  if (engine().reads_source() && !sequence.source)
    throw Error(Errc::argument, "an encoder-decoder reads a source before it writes", Fault::none, "source");
}

void SessionState::check_source(std::span<const TokenId> source) const {
  if (!engine().reads_source())
    throw Error(Errc::argument, "only an encoder-decoder reads a source", Fault::none, "source");
  if (source.empty()) throw Error(Errc::argument, "the source has no tokens", Fault::bad_value, "source");
  check_ids(source);
  if (source.size() > context())
    throw Error(
        Errc::argument,
        "the source has " + std::to_string(source.size()) + " tokens; the context is " + std::to_string(context()),
        Fault::limit, "source");
}

runtime::Sequence SessionState::with_source(std::span<const TokenId> source, const std::function<bool()>& stop) const {
  check_source(source);
  auto fresh = runtime::Sequence::of(sequence.salt, memory());
  fresh.source = engine().read_source(source, nullptr, stop);
  return fresh;
}

void SessionState::begin_writing() {
  if (sequence.tokens.empty()) append({&model->first_written, 1});
}

bool GenerationState::read_source(std::span<const TokenId> source, Rollback& rollback) {
  writer.stats.prompt_tokens = int(source.size());
  if (!source.empty() && !finished([&] { rollback.begin_anew(session_->with_source(source, stop_)); })) return false;
  session_->begin_writing();
  if (!finished([&] { read_all({}); })) return false;
  if (const auto& report = writer.limits().progress) report(int(source.size()), int(source.size()));
  writer.stats.prompt_seconds = writer.seconds();
  return true;
}

void Session::read_source(std::span<const TokenId> tokens) {
  guarded([&] {
    state_->settle();
    Rollback rollback(*state_);
    rollback.begin_anew(state_->with_source(tokens));
    rollback.keep();
    ++state_->asked;
  });
}

}  // namespace v0
}  // namespace inlay

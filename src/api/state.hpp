// What the handles of the door hold.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "base/aside.hpp"
#include "inlay/model.hpp"
#include "runtime/constraint.hpp"
#include "runtime/draft_budget.hpp"
#include "runtime/engine.hpp"
#include "runtime/snapshot.hpp"
#include "text/tokenizer.hpp"

namespace inlay {
inline namespace v0 {

struct ModelState {
  ModelState(gguf::File f, std::pmr::memory_resource* resource) : memory(resource), file(std::move(f)) {}
  std::pmr::memory_resource* memory;  // of the host
  gguf::File file;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  ModelInfo info;
  base::Owned<runtime::Engine> engine;  // null where only the vocabulary was loaded
  base::Owned<runtime::Engine> heads;   // that guess for it; null: none
  std::shared_ptr<runtime::DraftCosts> draft_costs = base::make_shared<runtime::DraftCosts>(memory);
  TokenId first_written = 0;  // what an encoder-decoder's sessions begin with

  // Made when the first grammar asks for it, by whichever thread comes first.
  std::shared_ptr<const runtime::TokenPieces> pieces() const {
    std::call_once(pieces_made, [&] { pieces_ = token_pieces({}); });
    return pieces_;
  }
  // Control tokens that have a meaning in the replies of a chat, sorted; and masks for which these have texts.
  const std::pmr::vector<TokenId>& marks() const;
  std::shared_ptr<const runtime::TokenPieces> pieces_with_marks() const;

  // Read from the file when a session is first saved or restored.
  std::uint64_t fingerprint() const {
    std::call_once(fingerprint_made, [&] { fingerprint_ = runtime::fingerprint(file, engine->context()); });
    return fingerprint_;
  }

  std::shared_ptr<const runtime::TokenPieces> token_pieces(std::span<const TokenId> marks) const {
    return base::make_shared<runtime::TokenPieces>(memory, *tokenizer, marks, memory);
  }

  mutable std::once_flag pieces_made = {}, marks_made = {}, marked_pieces_made = {}, fingerprint_made = {};
  mutable std::shared_ptr<const runtime::TokenPieces> pieces_ = {}, marked_pieces_ = {};
  mutable std::pmr::vector<TokenId> marks_{memory};
  mutable std::uint64_t fingerprint_ = 0;
};

class Guesser;

struct SessionState {
  std::shared_ptr<const ModelState> model;
  SessionOptions options;
  runtime::Sequence sequence;
  runtime::DraftBudget drafts;
  std::shared_ptr<Guesser> guesser = {};
  std::uint64_t asked = 0;  // grows with every call that changes the session; a Generation of an older one has ended
  base::Aside* beside = nullptr;  // where a batch has begun a step that reads it

  SessionState(std::shared_ptr<const ModelState> m, const SessionOptions& how)
      : model(std::move(m)),
        options(how),
        sequence(runtime::Sequence::of(options.salt, memory())),
        drafts(model->draft_costs) {
    std::string().swap(options.salt);  // the sequence has it
  }
  ~SessionState() { engine().release(sequence); }
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  // Before what steps change is looked at; and before it is changed.
  void settle() const noexcept {
    if (beside) beside->wait();
  }
  void ask() noexcept { settle(), ++asked; }

  runtime::Engine& engine() const noexcept { return *model->engine; }
  std::pmr::memory_resource* memory() const noexcept { return model->memory; }
  std::size_t context() const noexcept { return std::size_t(engine().context()); }

  text::TokenIds encode(std::string_view text, bool parse_specials) const;
  // The same of a prompt, which is the source of an encoder-decoder.
  text::TokenIds encode_prompt(std::string_view text, bool parse_specials) const;
  void check_ids(std::span<const TokenId> ids) const;  // throws Error{argument}
  void require_causal() const;                         // throws Error{unsupported} where tokens see those behind them
  void require_source() const;                         // throws Error{argument}, as the next does
  void check_source(std::span<const TokenId> source) const;
  // A sequence of an encoder-decoder that has read this source and written nothing; throws Error{argument}.
  runtime::Sequence with_source(std::span<const TokenId> source, const std::function<bool()>& stop = {}) const;
  // What an encoder-decoder writes behind, where it has written nothing yet.
  void begin_writing();
  // Appends ids, checked against the vocabulary and the room; throws Error{argument}.
  void append(std::span<const TokenId> ids);
  // Puts other tokens in place. What was read of a beginning that is the same stays read.
  void replace(std::span<const TokenId> tokens) {
    auto& old = sequence.tokens;
    if (old.capacity() < tokens.size()) old.reserve(2 * tokens.size());  // nothing throws from here on
    const auto same = std::mismatch(tokens.begin(), tokens.end(), old.begin(), old.end()).first;
    engine().rewind(sequence, std::size_t(same - tokens.begin()));
    old.assign(tokens.begin(), tokens.end());
  }

  // Reads every token that is not cached yet, and in any case those from `first` on and the last one, in chunks.
  // wants(position) says whether logits of that token are asked for; they arrive through take(position, logits) in
  // order. stop() ends it with Error{cancelled}. Says what of them was known already.
  struct Reader {
    std::size_t first = SIZE_MAX;
    std::function<bool(std::size_t position)> wants = {};
    std::function<void(std::size_t position, std::span<const float> logits)> take = {};
    std::function<void(std::size_t position)> progress = {};
    std::function<bool()> stop = {};
    runtime::Engine::Rows* rows = nullptr;  // where logits are to stand: in the end, those of the last chunk
  };
  runtime::Reuse read(const Reader& reader);

 private:
  std::pmr::vector<int> wanted_{memory()};  // rows of a chunk
};

// Puts a session back to its length, or to what it was before it began anew, unless what is asked of it is done.
class Rollback {
 public:
  explicit Rollback(SessionState& session) : session_(session), length_(session.sequence.tokens.size()) {}
  ~Rollback() {
    if (before_) {
      if (!kept_) std::swap(*before_, session_.sequence);
      session_.engine().release(*before_);
    } else if (!kept_) {
      session_.engine().rewind(session_.sequence, length_);
    }
  }
  void begin_anew(runtime::Sequence sequence) noexcept {
    before_ = std::exchange(session_.sequence, std::move(sequence));
  }
  void keep() noexcept { kept_ = true; }

 private:
  SessionState& session_;
  std::size_t length_;
  std::optional<runtime::Sequence> before_ = {};
  bool kept_ = false;
};

}  // namespace v0
}  // namespace inlay

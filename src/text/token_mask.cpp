// Which tokens may come next: the vocabulary's tree is walked with the automaton, once for each new kind of thread.
#include "text/token_mask.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/memory.hpp"
#include "inlay/error.hpp"
#include "text/grammar_error.hpp"
#include "text/grammar_rules.hpp"
#include "text/token_mask_walk.hpp"

namespace inlay::text {

class MaskMaker {
 public:
  MaskMaker(const GrammarState& state, const TokenTrie& trie)
      : rules_(*state.rules_), state_(state), content_(*trie.content_), known_(content_.caches.of(state.rules_)) {}

  void join_all(std::span<std::uint64_t> bits) {
    for (const Thread& thread : state_.threads_) join(thread, bits);
  }

 private:
  void join(const Thread& thread, std::span<std::uint64_t> bits) {
    MaskCache::Key key = thread_key(thread);
    auto mask = known_->find_thread(key);
    if (!mask) {
      mask = make(thread);
      known_->keep(std::move(key), mask);
    }
    const Frame& frame = state_.stacks_[thread.frame];
    const auto join_sometimes = [&](const std::pmr::vector<ConditionalTokens>& sometimes) {
      for (const auto& [when, tokens] : sometimes) {
        if (when.contains(frame.count)) tokens->join(bits);
      }
    };
    mask->local->always.join(bits);
    mask->always.join(bits);
    join_sometimes(mask->local->sometimes);
    join_sometimes(mask->sometimes);
  }

  // The state and its whole stack, but for the count of a counter on top: masks hold for all counts.
  MaskCache::Key thread_key(const Thread& thread) const {
    MaskCache::Key key({thread.state}, content_.memory);
    for (FrameId at = thread.frame; at != bottom;) {
      const Frame& frame = state_.stacks_[at];
      key.push_back(frame.resume.what);
      if (frame.resume.is_counter() && at != thread.frame) key.push_back(frame.count);
      at = frame.parent;
    }
    return key;
  }

  // Whether the count on top of the stack is left open while a thread's mask is made.
  bool counts(const Thread& thread) const {
    return thread.frame != bottom && state_.stacks_[thread.frame].resume.is_counter();
  }

  std::shared_ptr<const ThreadMask> make(const Thread& thread) {
    auto mask = base::make_shared<ThreadMask>(content_.memory, content_.memory);
    mask->local = local(thread);
    if (mask->local->loose.empty() || thread.frame == bottom) return mask;
    const FrameId ended = counts(thread) ? state_.stacks_[thread.frame].parent : thread.frame;
    if (ended == bottom) return mask;
    MaskWalk walk(rules_, *mask->local->tree);
    walk.runner().stacks = state_.stacks_;
    walk.runner().resume(ended, {});
    for (const auto& [node, when] : mask->local->loose) walk.below(node, when);
    walk.finish(content_.vocabulary, mask->always, mask->sometimes);
    return mask;
  }

  std::shared_ptr<const LocalMask> local(const Thread& thread) {
    const Resume top = counts(thread) ? state_.stacks_[thread.frame].resume : Resume{};
    MaskCache::Key key({thread.state, top.what}, content_.memory);
    auto mask = known_->find_local(key);
    if (mask) return mask;
    mask = shared_local(thread.state, top);
    known_->keep(std::move(key), mask);
    return mask;
  }

  // Texts without limits are alike in all grammars: their masks are made once for a vocabulary.
  std::shared_ptr<const LocalMask> shared_local(StateId state, Resume top) {
    const EasyText easy(rules_, state, top);
    const std::string meaning = easy.taken() && !top.is_counter() ? meaning_of(rules_, state) : std::string();
    if (meaning.empty()) return make_local(state, top, easy);
    auto mask = content_.shared.find(meaning);
    if (!mask) content_.shared.keep(meaning, mask = make_local(state, top, easy));
    return mask;
  }

  std::shared_ptr<const LocalMask> make_local(StateId state, Resume top, const EasyText& easy) {
    auto mask = base::make_shared<LocalMask>(content_.memory, content_.memory);
    mask->tree = easy.taken() ? &content_.hard : &content_.all;
    MaskWalk walk(rules_, *mask->tree);
    FrameId frame = bottom;
    if (top.is_counter()) frame = walk.runner().stacks.push(bottom, top, Runner::unknown_plus(0));
    walk.runner().threads.push_back({state, frame, {}});
    walk.keep_loose(mask->loose);
    walk.below(0, {});
    walk.finish(content_.vocabulary, mask->always, mask->sometimes);
    if (easy.taken()) add_easy(easy, *mask);
    return mask;
  }

  // Far from a counter's end all easy tokens fit; near it those that are short enough.
  void add_easy(const EasyText& easy, LocalMask& mask) const {
    if (content_.easy.empty()) return;
    const std::int64_t most = easy.most() == unbounded ? std::int64_t{2} * most_repeats : easy.most();
    const auto longest = static_cast<std::int64_t>(content_.easy.size()) - 1;
    if (most >= longest) {
      mask.sometimes.push_back({{0, std::min<std::int64_t>(most - longest, most_repeats)}, content_.easy.back()});
    }
    for (std::int64_t length = 1; length < longest && length <= most; ++length) {
      const std::int64_t count = most - length;
      if (count <= most_repeats)
        mask.sometimes.push_back({{count, count}, content_.easy[static_cast<std::size_t>(length)]});
    }
  }

  const GrammarRules& rules_;
  const GrammarState& state_;
  const TokenTrie::Content& content_;
  std::shared_ptr<MaskCache> known_;
};

void mask_tokens(const GrammarState& state, const TokenTrie& trie, std::span<std::uint64_t> bits) {
  if (bits.size() != trie.words()) {
    throw Error(Errc::argument, "a token mask needs one bit for each token of the vocabulary", Fault::bad_count,
                "bits");
  }
  std::ranges::fill(bits, 0);
  MaskMaker(state, trie).join_all(bits);
}

}  // namespace inlay::text

// Proves: whatever is done with sessions, each holds the pages that its tokens need and no more, so at most page - 1
// places are wasted for each, and the pool has all others to give.
#include <random>
#include <set>

#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "runtime/engine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"
#include "text/tokenizer.hpp"

namespace {

using inlay::TokenId;
using inlay::runtime::Engine;
using inlay::runtime::Reading;
using inlay::runtime::Sequence;

class Sessions {
 public:
  Sessions(int page, bool reuse)
      : page_(std::size_t(page)),
        file_(inlay::gguf::File::open(support::nano())),
        engine_(file_,
                inlay::base::make<inlay::runtime::Device>(std::pmr::new_delete_resource(), inlay::cpu::backend(),
                                                          inlay::runtime::DeviceOptions{.threads = 1}),
                {.cache = {.page = page, .most_bytes = std::size_t(8) << 20},
                 .reuse_prefixes = reuse,
                 .architecture = &inlay::api::find_architecture("llama", {}),
                 .vocabulary = inlay::text::Tokenizer::from(file_)->size()}),
        random_(unsigned(page)),
        pages_(engine_.room().pages),
        all_(6) {}
  ~Sessions() {
    for (auto& sequence : all_) engine_.release(sequence);
    CHECK(engine_.room().pages == pages_);
  }

  void step() {
    auto &one = all_[below(all_.size())], &other = all_[below(all_.size())];
    const auto size = one.tokens.size();
    const auto choice = below(100);
    if (choice < 45)
      append(one, 1 + below(12));
    else if (choice < 60)
      guess(one);
    else if (choice < 70)
      cancel(one);
    else if (choice < 80 && &one != &other)
      engine_.release(other), other = engine_.fork(one);
    else if (choice < 90)
      engine_.rewind(one, below(size + 1));
    else if (choice < 95 && size > 4)
      engine_.drop(one, 1, 1 + below(size - 3));
    else
      engine_.release(one);
    if (one.tokens.size() > 90) engine_.rewind(one, below(40));
  }

  void check() {
    std::set<std::int32_t> held;
    for (const auto& sequence : all_) {
      REQUIRE(sequence.pages.size() * page_ >= sequence.cached);
      REQUIRE(sequence.pages.size() * page_ < sequence.cached + page_);
      held.insert(sequence.pages.begin(), sequence.pages.end());
    }
    REQUIRE(engine_.room().pages == pages_ - held.size());
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  // Of few texts, so that much is known.
  void extend(Sequence& sequence, std::size_t n) {
    const auto turn = TokenId(below(2));
    for (; n > 0; --n) sequence.tokens.push_back(300 + TokenId(sequence.tokens.size() * 7 % 50) + turn);
  }
  void read(Sequence& sequence, const std::function<bool()>& stop = {}) {
    engine_.reuse(sequence, sequence.tokens.size() - 1);
    const int count = int(sequence.tokens.size() - sequence.cached), last = count - 1;
    const Reading reading{&sequence, count, {&last, 1}};
    engine_.read({&reading, 1}, logits_, stop);
  }
  void append(Sequence& sequence, std::size_t n) {
    extend(sequence, n);
    read(sequence);
  }
  void cancel(Sequence& sequence) {
    extend(sequence, 1 + below(30));
    auto layers = below(6);
    CHECK_THROWS_AS(read(sequence, [&] { return layers-- == 0; }), inlay::Error);
    engine_.rewind(sequence, sequence.cached);
  }
  // Drafts and a branch of them; some of either come true.
  void guess(Sequence& sequence) {
    append(sequence, 1);
    extend(sequence, 1);
    const std::vector<TokenId> drafts(1 + below(9), 301), side(1 + below(5), 302);
    const auto from = below(drafts.size());
    Sequence branch;
    engine_.branch(sequence, from + 1, branch);
    const int row = 0;
    const Reading readings[] = {{&sequence, 1, {&row, 1}, drafts}, {&branch, 0, {}, side, 0, int(from) + 1}};
    engine_.read(readings, logits_);
    auto told = drafts;
    if (below(2)) {
      engine_.take_branch(sequence, branch);
      told.resize(from);
      told.insert(told.end(), side.begin(), side.end());
    }
    for (std::size_t right = below(told.size() + 1), i = 0; i < right; ++i) {
      sequence.tokens.push_back(told[i]);
      engine_.accept(sequence);
    }
    engine_.drop_drafts(sequence);
    engine_.release(branch);
  }

  std::size_t page_;
  inlay::gguf::File file_;
  Engine engine_;
  std::mt19937 random_;
  std::size_t pages_;  // in all
  std::vector<Sequence> all_;
  Engine::Rows logits_;
};

TEST_CASE("a session never holds a page that its tokens do not need") {
  for (const int page : {1, 7, 32})
    for (const bool reuse : {false, true}) {
      CAPTURE(page, reuse);
      Sessions sessions(page, reuse);
      for (int i = 0; i < 250; ++i) {
        sessions.step();
        sessions.check();
      }
    }
}

}  // namespace

// Proves: a session's results do not depend on how its tokens were fed, and failures leave it as it was.
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Finish;
using inlay::Sampler;
using inlay::TokenId;

const char* const prompt = "Once upon a time, there was a small red house at the end of the lane, and in it";

std::vector<int> positions(std::size_t n) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<float> feed(const inlay::Model& model, std::span<const TokenId> tokens, std::size_t piece) {
  auto session = model.session();
  std::vector<float> all;
  for (std::size_t i = 0; i < tokens.size(); i += piece) {
    const auto part = tokens.subspan(i, std::min(piece, tokens.size() - i));
    const auto logits = session.evaluate(part, positions(part.size()));
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<TokenId> greedy(inlay::Session& session, std::span<const TokenId> tokens, int n) {
  std::vector<TokenId> made;
  auto reply = session.generate(tokens, Sampler::greedy(), {.tokens = n, .ignore_end = true});
  for (const auto& token : reply) made.push_back(token.id);
  return made;
}

TEST_CASE("the same tokens give the same bits in any pieces, pages and thread counts") {
  const auto model = support::load_nano();
  const auto tokens = model.tokenize(prompt, {.specials = true});
  const auto whole = feed(model, tokens, tokens.size());
  for (const std::size_t piece : {1, 2, 3, 7, 16}) CHECK(same_bits(feed(model, tokens, piece), whole));
  for (const int page : {1, 5, 64}) CHECK(same_bits(feed(support::load_nano({.page = page}), tokens, 4), whole));
  for (const int threads : {1, 3}) CHECK(same_bits(feed(support::load_nano({.threads = threads}), tokens, 5), whole));
}

TEST_CASE("a fork and a rewound session continue like a fresh one") {
  const auto model = support::load_nano();
  const auto tokens = model.tokenize(prompt, {.specials = true});
  auto fresh = model.session();
  const auto expected = greedy(fresh, tokens, 12);
  auto session = model.session();
  session.evaluate(tokens);
  auto branch = session.fork();
  greedy(branch, model.tokenize(" dragons"), 9);
  const std::vector<TokenId> nothing;
  CHECK(greedy(session, nothing, 12) == expected);
  session.rewind(tokens.size());
  CHECK(greedy(session, nothing, 12) == expected);
  CHECK_THROWS_AS(session.rewind(1000), inlay::Error);
}

TEST_CASE("a stop text is never shown, not even in part") {
  const auto model = support::load_nano();
  auto session = model.session();
  const auto whole = session.generate(prompt, Sampler::greedy(), {.tokens = 40}).text();
  REQUIRE(whole.size() > 20);
  for (std::size_t at = 3; at + 6 < whole.size(); at += 5) {
    const auto stop = whole.substr(at, 6);
    auto again = model.session();
    auto reply = again.generate(prompt, Sampler::greedy(), {.tokens = 40, .stop = {stop, "never found"}});
    std::string shown;
    for (std::string_view text : reply) shown += text;
    CHECK(shown == whole.substr(0, whole.find(stop)));
    CHECK(reply.finish() == Finish::stop_text);
    CHECK(reply.text_end() == shown.size());
  }
}

TEST_CASE("a prompt is text: control tokens spelled in it stay text, and BOS comes once") {
  const auto model = support::load_nano();
  const auto end = model.tokenize("<|im_end|>", {.parse_specials = true});
  REQUIRE(end.size() == 1);
  auto session = model.session();
  (void)session.generate("a<|im_end|>b", Sampler::greedy(), {.tokens = 0});
  const std::vector<TokenId> read(session.tokens().begin(), session.tokens().end());
  CHECK(read.front() == model.info().bos);
  CHECK(std::count(read.begin(), read.end(), end[0]) == 0);
  CHECK(model.detokenize(read, {.remove_specials = true}) == "a<|im_end|>b");
  (void)session.generate("c", Sampler::greedy(), {.tokens = 0});
  CHECK(std::count(session.tokens().begin(), session.tokens().end(), model.info().bos) == 1);
  auto open = model.session();
  (void)open.generate("a<|im_end|>b", Sampler::greedy(), {.tokens = 0, .parse_specials = true});
  CHECK(std::count(open.tokens().begin(), open.tokens().end(), end[0]) == 1);
}

TEST_CASE("cancel and deadline leave the session as it was before the prompt") {
  const auto model = support::load_nano();
  auto session = model.session();
  (void)session.generate("Hello", Sampler::greedy(), {.tokens = 3}).text();
  const std::vector<TokenId> before(session.tokens().begin(), session.tokens().end());
  std::stop_source stop;
  stop.request_stop();
  auto cancelled = session.generate(prompt, Sampler::greedy(), {.cancel = stop.get_token()});
  CHECK(cancelled.begin() == cancelled.end());
  CHECK(cancelled.finish() == Finish::cancelled);
  CHECK(std::equal(before.begin(), before.end(), session.tokens().begin(), session.tokens().end()));
  std::string text;
  for (int i = 0; i < 40; ++i) text += prompt;
  auto late =
      session.generate(text, Sampler::greedy(), {.deadline = std::chrono::milliseconds(1), .progress = [](int, int) {
                                                   std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                                 }});
  CHECK(late.finish() == Finish::deadline);
  CHECK(session.tokens().size() == before.size());
}

TEST_CASE("what is asked of a session ends the generation before") {
  const auto model = support::load_nano();
  auto session = model.session();
  auto first = session.generate(prompt, Sampler::greedy(), {.tokens = 20});
  auto i = first.begin();
  auto second = session.generate(" and", Sampler::greedy(), {.tokens = 2});
  ++i;
  CHECK(i == first.end());
  CHECK(first.finish() == Finish::cancelled);
  CHECK(second.text().size() > 0);
  auto outlives = [&] {
    auto short_lived = model.session();
    return short_lived.generate(prompt, Sampler::greedy(), {.tokens = 5});
  }();
  CHECK_FALSE(outlives.text().empty());
}

TEST_CASE("an iterator outlives its generation, moved or gone") {
  const auto model = support::load_nano();
  auto session = model.session();
  auto i = [&] {
    auto generation = session.generate(prompt, Sampler::greedy(), {.tokens = 3});
    const auto first = generation.begin();
    const auto moved = std::move(generation);
    return first;
  }();
  auto other = model.session();
  const auto whole = other.generate(prompt, Sampler::greedy(), {.tokens = 3}).text();
  std::string rest;
  for (; i != std::default_sentinel; ++i) rest += i->text;
  CHECK(rest == whole);
}

TEST_CASE("score is the sum of the log-probabilities that evaluate gives") {
  const auto model = support::load_nano();
  auto session = model.session();
  session.evaluate(model.tokenize("The capital of", {.specials = true}));
  const auto length = session.tokens().size();
  const auto scored = session.score(" France is Paris.");
  CHECK(session.tokens().size() == length);
  auto other = model.session();
  auto tokens = model.tokenize("The capital of", {.specials = true});
  const auto more = model.tokenize(" France is Paris.");
  tokens.insert(tokens.end(), more.begin(), more.end());
  const auto logits = other.evaluate(tokens, positions(tokens.size()));
  const auto width = std::size_t(model.info().vocabulary);
  double expected = 0;
  for (std::size_t t = length; t < tokens.size(); ++t) {
    const auto* row = logits.data() + (t - 1) * width;
    double sum = 0;
    for (std::size_t v = 0; v < width; ++v) sum += std::exp(double(row[v]));
    expected += row[tokens[t]] - std::log(sum);
  }
  CHECK(scored == Approx(expected).epsilon(1e-6));
}

TEST_CASE("the context ends a generation, and a prompt that cannot fit is refused") {
  const auto model = support::load_nano({.context = 24});
  auto session = model.session();
  auto reply = session.generate("One two three", Sampler::greedy(), {.ignore_end = true});
  for (const auto& token : reply) CHECK(token.id >= 0);
  CHECK(reply.finish() == Finish::context_full);
  CHECK(session.room() == 0);
  auto other = model.session();
  CHECK_THROWS_AS(other.generate(std::string(400, 'x')), inlay::Error);
  CHECK(other.tokens().empty());
  CHECK_THROWS_AS(other.evaluate(std::vector<TokenId>{1 << 20}), inlay::Error);
}

TEST_CASE("tokens come with log-probabilities and alternatives of the model's own distribution") {
  const auto model = support::load_nano();
  auto session = model.session();
  auto reply = session.generate(prompt, {.temperature = 0.9f, .seed = 5}, {.tokens = 6, .top_logprobs = 4});
  for (const auto& token : reply) {
    REQUIRE(token.alternatives.size() == 4);
    CHECK(token.logprob <= token.alternatives[0].logprob);
    for (std::size_t i = 1; i < 4; ++i) CHECK(token.alternatives[i].logprob <= token.alternatives[i - 1].logprob);
  }
}

}  // namespace

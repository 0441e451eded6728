// Proves that attention is the softmax formula, and that neither pages, chunks, companions nor threads change a bit.
#include <cmath>

#include "tests/backends/harness.hpp"

using namespace backends;

namespace {

constexpr int heads = 6, groups = 2, dims = 48, together = heads / groups;
constexpr float scale = 0.2f;

// Queries, keys and values of one sequence from its first token on.
struct Sequence {
  int length;
  Floats q, k, v;
  Sequence(int n, unsigned seed) : length(n) {
    Random random(seed);
    q = random.floats(std::size_t(n * heads * dims), 2);
    k = random.floats(std::size_t(n * groups * dims), 2);
    v = random.floats(std::size_t(n * groups * dims), 2);
  }
};

struct Form {
  std::uint32_t type = INLAY_F32, mask = INLAY_MASK_CAUSAL;
  int window = 0, page_size = 16, threads = 1;
};

// A device with one layer's pool of pages, all NaN at first. Sequence s owns every other page from s on.
class Layer {
 public:
  Layer(const Candidate& candidate, const Form& form, int sequences, int length)
      : device_(candidate, form.threads),
        form_(form),
        sequences_(sequences),
        pages_((length + form.page_size - 1) / form.page_size) {
    cache_.size = sizeof cache_;
    cache_.k_type = cache_.v_type = form.type;
    cache_.heads = groups;
    cache_.k_dim = cache_.v_dim = dims;
    cache_.page_size = form.page_size;
    cache_.segment_pages = pages_ * sequences;
    cache_.v_offset = std::int64_t(device_.backend().cache_bytes(device_.handle(), &cache_, 0) + 63) / 64 * 64;
    cache_.page_stride =
        cache_.v_offset + std::int64_t(device_.backend().cache_bytes(device_.handle(), &cache_, 1) + 63) / 64 * 64;
    const Bytes poison(std::size_t(cache_.page_stride) * std::size_t(pages_ * sequences), std::byte{0xFF});
    segment_ = device_.memory(poison.size());
    std::memcpy(segment_, poison.data(), poison.size());
    cache_.segments = &segment_;
  }

  // Tokens [from, to) of each sequence as one step; the rows of y, sequence by sequence.
  Floats step(const std::vector<const Sequence*>& batch, const std::vector<int>& from, const std::vector<int>& to) {
    std::vector<std::int32_t> start = {0}, page_start = {0}, pages, length, positions;
    Floats q, k, v;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      const auto append = [&](Floats& all, const Floats& part, int width) {
        all.insert(all.end(), part.begin() + from[s] * width, part.begin() + to[s] * width);
      };
      append(q, batch[s]->q, heads * dims);
      append(k, batch[s]->k, groups * dims);
      append(v, batch[s]->v, groups * dims);
      for (int t = from[s]; t < to[s]; ++t) positions.push_back(t);
      for (int p = 0; p < pages_; ++p) pages.push_back(p * sequences_ + int(s));
      start.push_back(start.back() + to[s] - from[s]);
      page_start.push_back(page_start.back() + pages_);
      length.push_back(to[s]);
    }
    const std::int64_t tokens = start.back();
    const inlay_page_table table = {page_start.data(), pages.data(), length.data()};
    const inlay_batch view = {.size = sizeof view,
                              .tokens = int(tokens),
                              .seqs = int(batch.size()),
                              .tables = 1,
                              .streams = 1,
                              .ids = positions.data(),
                              .query_start = start.data(),
                              .positions = positions.data(),
                              .state_slot = nullptr,
                              .table = &table};
    const inlay_tensor tq = device_.numbers({tokens, heads, dims}, q), tk = device_.numbers({tokens, groups, dims}, k),
                       tv = device_.numbers({tokens, groups, dims}, v), y = device_.empty({tokens, heads, dims});
    inlay_attention_op op = {};
    op.size = sizeof op;
    op.mask = form_.mask;
    op.window = form_.window;
    op.y = &y;
    op.q = &tq;
    op.k = &tk;
    op.v = &tv;
    op.cache = &cache_;
    op.scale = scale;
    char message[256] = "";
    const inlay_backend& backend = device_.backend();
    REQUIRE(backend.can(device_.handle(), INLAY_OP_ATTENTION, &op) != 0);
    backend.begin(device_.handle(), &view);
    backend.ops->attention(device_.handle(), &op);
    REQUIRE(backend.end(device_.handle(), message, sizeof message) == INLAY_STEP_DONE);
    return device_.read(y);
  }

 private:
  Device device_;
  Form form_;
  int sequences_, pages_;
  inlay_cache cache_ = {};
  void* segment_ = nullptr;
};

// One sequence in chunks of `chunk` tokens.
Floats in_chunks(const Candidate& candidate, const Form& form, const Sequence& sequence, int chunk) {
  Layer layer(candidate, form, 1, sequence.length);
  Floats y;
  for (int t = 0; t < sequence.length; t += chunk) {
    const Floats part = layer.step({&sequence}, {t}, {std::min(sequence.length, t + chunk)});
    y.insert(y.end(), part.begin(), part.end());
  }
  return y;
}

bool sees(const Form& form, int query, int key) {
  if (form.mask == INLAY_MASK_SLIDING && query - key >= form.window) return false;
  if (form.mask == INLAY_MASK_CHUNKED && key < query / form.window * form.window) return false;
  return key <= query;
}

// softmax(scale q k') v as it stands in a textbook
Floats formula(const Form& form, const Sequence& s) {
  Floats y;
  for (int t = 0; t < s.length; ++t) {
    for (int h = 0; h < heads; ++h) {
      std::vector<double> sum(dims, 0.0);
      double weight = 0;
      for (int j = 0; j < s.length; ++j) {
        if (!sees(form, t, j)) continue;
        double score = 0;
        const std::size_t key = std::size_t((j * groups + h / together) * dims);
        for (std::size_t d = 0; d < dims; ++d)
          score += double{s.q[std::size_t((t * heads + h) * dims) + d]} * s.k[key + d];
        const double share = std::exp(scale * score);
        weight += share;
        for (std::size_t d = 0; d < dims; ++d) sum[d] += share * s.v[key + d];
      }
      for (const double x : sum) y.push_back(static_cast<float>(x / weight));
    }
  }
  return y;
}

}  // namespace

TEST_CASE("attention is softmax(scale q k') v, in pages of any size") {
  const Sequence sequence(150, 1);
  for (const Candidate& candidate : candidates()) {
    for (const int page_size : {1, 16, 32, 48}) {
      INFO(candidate.isa << ", pages of " << page_size);
      const Form form = {.page_size = page_size};
      const Floats y = in_chunks(candidate, form, sequence, 64);
      check_within(y, formula(form, sequence), [](std::size_t) { return 3e-6; });
    }
  }
}

TEST_CASE("windows are the formula's") {
  const Sequence sequence(200, 2);
  for (const Candidate& candidate : candidates()) {
    for (const std::uint32_t mask : {INLAY_MASK_SLIDING, INLAY_MASK_CHUNKED}) {
      const Form form = {.mask = mask, .window = 37};
      check_within(in_chunks(candidate, form, sequence, 50), formula(form, sequence), [](std::size_t) { return 3e-6; });
    }
  }
}

TEST_CASE("a token alone, in a chunk and on any page gives the same bits") {
  const Sequence sequence(140, 3);
  for (const Candidate& candidate : candidates()) {
    for (const std::uint32_t type : {INLAY_F32, INLAY_F16, INLAY_BF16}) {
      INFO(candidate.isa << ", type " << type);
      const Floats whole = in_chunks(candidate, {.type = type}, sequence, sequence.length);
      check_equal(in_chunks(candidate, {.type = type}, sequence, 1), whole);
      check_equal(in_chunks(candidate, {.type = type, .page_size = 1}, sequence, 33), whole);
      check_equal(in_chunks(candidate, {.type = type, .page_size = 32, .threads = 3}, sequence, 7), whole);
    }
  }
}

TEST_CASE("parts of a long sequence give the same bits on one thread and on several") {
  const Sequence sequence(1700, 4);
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    const auto last_token = [&](int threads) {
      Layer layer(candidate, {.type = INLAY_F16, .threads = threads}, 1, sequence.length);
      layer.step({&sequence}, {0}, {sequence.length - 1});
      return layer.step({&sequence}, {sequence.length - 1}, {sequence.length});
    };
    check_equal(last_token(4), last_token(1));
  }
}

TEST_CASE("sequences in one batch do not change each other") {
  const Sequence first(90, 5), second(70, 6);
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    Layer layer(candidate, {.threads = 2}, 2, 90);
    Floats both = layer.step({&first, &second}, {0, 0}, {60, 69});
    const Floats more = layer.step({&first, &second}, {60, 69}, {90, 70});
    const auto row = std::size_t(heads * dims);
    Floats of_first(both.begin(), both.begin() + std::ptrdiff_t(60 * row)),
        of_second(both.begin() + std::ptrdiff_t(60 * row), both.end());
    of_first.insert(of_first.end(), more.begin(), more.begin() + std::ptrdiff_t(30 * row));
    of_second.insert(of_second.end(), more.begin() + std::ptrdiff_t(30 * row), more.end());
    check_equal(of_first, in_chunks(candidate, {}, first, 90));
    check_equal(of_second, in_chunks(candidate, {}, second, 70));
  }
}

// Proves that keys are chosen by their scores, that attention reads those that were chosen and no others, and that
// neither chunks nor threads change either.
#include <numeric>

#include "tests/backends/weights.hpp"

using namespace backends;

namespace {

struct Form {
  int run = 1, local = 0, most = 8;  // most: keys to be chosen
  bool weighed = true;
  std::uint32_t type = INLAY_F32;
  int page_size = 16, heads = 3, dims = 16;
  std::vector<int> counts = {3, 1, 40}, lengths = {3, 150, 45};
  int lists() const { return weighed ? 1 : heads; }
};

// A pool of pages, NaN at first.
struct Pool {
  inlay_cache cache = {};
  void* segment;

  Pool(Device& device, bool latent, int heads, int dims, std::uint32_t type, int page_size, int pages) {
    cache.size = sizeof cache;
    cache.kind = latent ? INLAY_CACHE_LATENT : INLAY_CACHE_KV;
    cache.k_type = cache.v_type = type;
    cache.heads = heads, cache.k_dim = cache.v_dim = dims;
    cache.page_size = page_size, cache.segment_pages = pages;
    const auto size = [&](int which) {
      return std::int64_t(device.backend().cache_bytes(device.handle(), &cache, which) + 63) / 64 * 64;
    };
    cache.v_offset = size(0);
    cache.page_stride = cache.v_offset + size(1);
    const Bytes poison(std::size_t(pages * cache.page_stride), std::byte{0xFF});
    segment = device.memory(poison.size());
    device.backend().upload(device.handle(), segment, poison.data(), poison.size());
    cache.segments = &segment;
  }
};

// Small integers: every score is exact in any order of sums, and many are equal.
Floats integers(Random& random, std::size_t count) {
  Floats values(count);
  for (auto& value : values) value = float(int(random.bits() % 5) - 2);
  return values;
}

// For every sequence all that its tokens make, also of those that earlier steps have read.
struct Input {
  std::vector<Floats> q, k, weight;
  explicit Input(const Form& form) {
    Random random(unsigned(form.most + form.run));
    for (const int length : form.lengths) {
      q.push_back(integers(random, std::size_t(length * form.heads * form.dims)));
      k.push_back(integers(random, std::size_t(length * form.dims)));
      weight.push_back(integers(random, std::size_t(length * form.heads)));
    }
  }
};

Floats newest(const Form& form, const std::vector<Floats>& all, int width) {
  Floats rows;
  for (std::size_t s = 0; s < form.counts.size(); ++s)
    rows.insert(rows.end(), all[s].end() - form.counts[s] * width, all[s].end());
  return rows;
}

using Lists = std::vector<std::vector<std::int32_t>>;  // of each token, list by list

// What the definition says, by sorting.
std::vector<std::int32_t> expected(const Form& form, const Input& input, std::size_t s, int position, int list) {
  const auto dot = [&](int head, int key) {
    const auto* query = input.q[s].data() + (position * form.heads + head) * form.dims;
    return std::inner_product(query, query + form.dims, input.k[s].data() + key * form.dims, 0.0);
  };
  const int runs = position / form.run + 1;
  std::vector<double> best(std::size_t(runs), -1e30);
  for (int key = 0; key <= position; ++key) {
    double score = form.weighed ? 0 : dot(list, key);
    for (int h = 0; form.weighed && h < form.heads; ++h)
      score += input.weight[s][std::size_t(position * form.heads + h)] * std::max(0.0, dot(h, key));
    best[std::size_t(key / form.run)] = std::max(best[std::size_t(key / form.run)], score);
  }
  for (int r = std::max(0, runs - form.local); r < runs; ++r) best[std::size_t(r)] = 1e30;
  std::vector<int> order(static_cast<std::size_t>(runs));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return best[std::size_t(a)] > best[std::size_t(b)]; });
  order.resize(std::min<std::size_t>(order.size(), std::size_t(form.most / form.run)));
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> keys;
  for (const int r : order)
    for (int key = r * form.run; key < (r + 1) * form.run && key <= position; ++key) keys.push_back(key);
  return keys;
}

// Those of the sequences that choose at all.
Lists expected(const Form& form, const Input& input) {
  Lists lists;
  for (std::size_t s = 0; s < form.counts.size(); ++s)
    for (int position = form.lengths[s] - form.counts[s]; position < form.lengths[s]; ++position)
      for (int list = 0; form.lengths[s] > form.most && list < form.lists(); ++list)
        lists.push_back(expected(form, input, s, position, list));
  return lists;
}

Lists choose(Device& device, const Form& form, const Input& input) {
  Batch batch(form.counts, form.lengths, form.page_size);
  const std::int64_t T = batch.tokens(), H = form.heads, K = form.dims;
  Pool pool(device, true, 1, form.dims, form.type, form.page_size, batch.page_count());
  for (std::size_t s = 0; s < form.counts.size(); ++s) {
    std::vector<std::int32_t> slots;
    for (int p = 0; p < form.lengths[s] - form.counts[s]; ++p) slots.push_back(batch.slot(int(s), p, form.page_size));
    device.backend().write_rows(device.handle(), &pool.cache, slots.data(), int(slots.size()), input.k[s].data(),
                                nullptr);
  }
  const auto q = device.numbers({T, H, K}, newest(form, input.q, form.heads * form.dims)),
             k = device.numbers({T, 1, K}, newest(form, input.k, form.dims)),
             weight = device.numbers({T, H}, newest(form, input.weight, form.heads)),
             y = device.empty({T, form.lists(), form.most}, INLAY_I32);
  device.run(batch, inlay_choose_op{.size = sizeof(inlay_choose_op),
                                    .run = form.run,
                                    .local = form.local,
                                    .y = &y,
                                    .q = &q,
                                    .k = &k,
                                    .weight = form.weighed ? &weight : nullptr,
                                    .cache = &pool.cache});
  const auto written = device.read_indices(y);
  Lists lists;
  auto row = written.begin();
  for (std::size_t s = 0; s < form.counts.size(); ++s)
    for (int position = form.lengths[s] - form.counts[s]; position < form.lengths[s]; ++position)
      for (int list = 0; list < form.lists(); ++list, row += form.most)
        if (form.lengths[s] > form.most) {
          const auto count = expected(form, input, s, position, list).size();
          lists.emplace_back(row, row + std::ptrdiff_t(count));
        }
  return lists;
}

const Form forms[] = {{},
                      {.most = 33, .type = INLAY_F16},
                      {.page_size = 3, .heads = 20, .dims = 24},
                      {.most = 1, .heads = 1},
                      {.run = 8, .local = 1, .most = 24, .weighed = false},
                      {.run = 4, .local = 2, .most = 12, .weighed = false, .heads = 2, .dims = 32},
                      {.run = 64, .local = 1, .most = 128, .weighed = false, .type = INLAY_BF16},
                      {.counts = {700, 9}, .lengths = {700, 1201}}};

// One layer of attention over lists of keys.
struct Attended {
  static constexpr int heads = 4, groups = 2, dims = 32;
  Floats q, k, v;
  int length;
  Attended(int n, unsigned seed) : length(n) {
    Random random(seed);
    q = random.floats(std::size_t(n * heads * dims), 2);
    k = random.floats(std::size_t(n * groups * dims), 2), v = random.floats(std::size_t(n * groups * dims), 2);
  }

  // The last `count` tokens over lists of `most` keys, [count][groups][most], or over all, causally or not.
  Floats run(Device& device, int count, int most, const std::vector<std::int32_t>& choice, std::uint32_t type,
             std::uint32_t mask = INLAY_MASK_CAUSAL) const {
    Batch batch({count}, {length}, 16);
    Pool pool(device, false, groups, dims, type, 16, batch.page_count());
    std::vector<std::int32_t> slots;
    for (int p = 0; p < length; ++p) slots.push_back(batch.slot(0, p, 16));
    device.backend().write_rows(device.handle(), &pool.cache, slots.data(), length, k.data(), v.data());
    const auto tq = device.numbers({count, heads, dims}, Floats(q.end() - count * heads * dims, q.end())),
               y = device.empty({count, heads, dims});
    inlay_tensor lists = {};
    if (!choice.empty()) lists = device.indices({count, groups, most}, choice);
    device.run(batch, inlay_attention_op{.size = sizeof(inlay_attention_op),
                                         .mask = mask,
                                         .y = &y,
                                         .q = &tq,
                                         .cache = &pool.cache,
                                         .scale = 0.3f,
                                         .chosen_run = 1,
                                         .choice = choice.empty() ? nullptr : &lists});
    return device.read(y);
  }
};

// For each token and group `most` positions up to its own, ascending.
std::vector<std::int32_t> some_lists(int count, int length, int most) {
  Random random(11);
  std::vector<std::int32_t> all;
  for (int list = 0; list < count * Attended::groups; ++list) {
    const int position = length - count + list / Attended::groups;
    std::vector<std::int32_t> keys(std::size_t(position + 1));
    std::iota(keys.begin(), keys.end(), 0);
    for (std::size_t i = keys.size() - 1; i > 0; --i) std::swap(keys[i], keys[random.bits() % (i + 1)]);
    keys.resize(std::size_t(most));
    std::sort(keys.begin(), keys.end());
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

}  // namespace

TEST_CASE("the best keys are chosen, ties go to the earlier ones") {
  auto all = candidates();
  all.push_back(oracle);
  for (const Candidate& candidate : all) {
    for (const Form& form : forms) {
      INFO(candidate.isa << ", form " << &form - forms);
      const Input input(form);
      const auto want = expected(form, input);
      Device one(candidate), team(candidate, 3);
      CHECK(choose(one, form, input) == want);
      CHECK(choose(team, form, input) == want);
    }
  }
}

TEST_CASE("scores that are no numbers are never chosen before others, and harm nothing") {
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    const Form form = {.most = 8, .counts = {150}, .lengths = {150}};
    Input input(form);
    for (std::size_t i = 0; i < input.q[0].size(); i += 7) input.q[0][i] = std::numeric_limits<float>::quiet_NaN();
    Device device(candidate);
    for (const auto& list : choose(device, form, input)) {
      CHECK(std::is_sorted(list.begin(), list.end(), std::less_equal<>()));
      CHECK((list.front() >= 0 && list.back() < 150));
    }
  }
}

// What a token's list names, alone in a cache, all seen.
TEST_CASE("attention over a list of keys gives the bits of attention over a cache that holds just these") {
  constexpr int length = 1300, count = 3;
  const Attended whole(length, 5);
  for (const Candidate& candidate : candidates()) {
    for (const std::uint32_t type : {INLAY_F32, INLAY_F16, INLAY_Q8_0}) {
      for (const int most : {1, 63, 700}) {
        INFO(candidate.isa << ", " << most << " keys of type " << type);
        const auto lists = some_lists(count, length, most);
        Device device(candidate), team(candidate, 3), reference(oracle);
        const auto got = whole.run(device, count, most, lists, type);
        check_equal(whole.run(team, count, most, lists, type), got);
        const auto sure = whole.run(reference, count, most, lists, type);
        check_within(got, sure, [](std::size_t) { return 1e-4; });
        for (int list = 0; list < count * Attended::groups; ++list) {
          const int token = list / Attended::groups, group = list % Attended::groups;
          Attended part(most, 1);
          for (int i = 0; i < most; ++i) {
            const int width = Attended::groups * Attended::dims, from = lists[std::size_t(list * most + i)] * width;
            std::copy_n(whole.k.begin() + from, width, part.k.begin() + i * width);
            std::copy_n(whole.v.begin() + from, width, part.v.begin() + i * width);
          }
          const int row = Attended::heads * Attended::dims, half = row / Attended::groups;
          std::copy_n(whole.q.end() - (count - token) * row, row, part.q.end() - row);
          const auto want = part.run(device, 1, 0, {}, type, INLAY_MASK_ALL);
          check_equal({got.begin() + token * row + group * half, got.begin() + token * row + (group + 1) * half},
                      {want.begin() + group * half, want.begin() + (group + 1) * half});
        }
      }
    }
  }
}

// Proves that attention of every backend is the reference's: all masks and cache types, ragged batches over shuffled
// pages.
#include "tests/backends/weights.hpp"

using namespace backends;

namespace {

struct Form {
  std::uint32_t mask = INLAY_MASK_CAUSAL, k_type = INLAY_F32, v_type = INLAY_F32;
  int window = 0, heads = 4, groups = 2, dims = 32, value_dims = 32, page_size = 4;
  float softcap = 0;
  bool sinks = false, slopes = false, buckets = false, latent = false, cached = true, rope = false, stored = true,
       asked = true;
  std::vector<int> counts = {3, 1, 5}, lengths = {3, 67, 45};

  // A power of two where queries may be rounded after they are scaled: then it is all the same.
  float scale() const { return k_type == INLAY_BF16 ? 0.25f : 0.3f; }
};

constexpr int segment_pages = 3;

// One layer's cache: a pool whose pages hold keys, then values, and something else before and after.
struct Pool {
  inlay_cache cache = {};
  std::vector<void*> segments;

  Pool(Device& device, const Form& form, int pages) {
    cache.size = sizeof cache;
    cache.kind = form.latent ? INLAY_CACHE_LATENT : INLAY_CACHE_KV;
    cache.k_type = form.k_type;
    cache.v_type = form.v_type;
    cache.heads = form.groups;
    cache.k_dim = form.dims;
    cache.v_dim = form.value_dims;
    cache.page_size = form.page_size;
    cache.segment_pages = segment_pages;
    const auto size = [&](int which) {
      return std::int64_t(device.backend().cache_bytes(device.handle(), &cache, which) + 63) / 64 * 64;
    };
    cache.k_offset = 64;
    cache.v_offset = cache.k_offset + size(0);
    cache.page_stride = cache.v_offset + size(1) + 64;
    for (int page = 0; page < pages; page += segment_pages) {
      const Bytes poison(std::size_t(segment_pages * cache.page_stride),
                         std::byte{0xFF});  // NaN: no masked key may matter
      segments.push_back(device.memory(poison.size()));
      device.backend().upload(device.handle(), segments.back(), poison.data(), poison.size());
    }
    cache.segments = segments.data();
  }
};

// What a run reads: the step's q, k and v, and what the cache held before.
struct Input {
  Floats q, k, v, old_k, old_v;
  Input(const Form& form, unsigned seed) {
    Random random(seed);
    int tokens = 0, cached = 0;
    for (std::size_t i = 0; i < form.counts.size(); ++i) tokens += form.counts[i], cached += form.lengths[i];
    q = random.floats(std::size_t(tokens * form.heads * form.dims), 2);
    k = random.floats(std::size_t(tokens * form.groups * form.dims), 2);
    v = random.floats(std::size_t(tokens * form.groups * form.value_dims), 2);
    old_k = random.floats(std::size_t(cached * form.groups * form.dims), 2);
    old_v = random.floats(std::size_t(cached * form.groups * form.value_dims), 2);
  }
};

// The slots that hold what came before this step, or all of them.
std::vector<std::int32_t> slots_of(const Batch& batch, const Form& form, bool with_step) {
  std::vector<std::int32_t> slots;
  for (std::size_t s = 0; s < form.counts.size(); ++s) {
    const int end = form.lengths[s] - (with_step || !form.stored ? 0 : form.counts[s]);
    for (int p = 0; p < end; ++p) slots.push_back(batch.slot(int(s), p, form.page_size));
  }
  return slots;
}

struct Result {
  Floats y, keys, values;
};

Result attend(Device& device, const Form& form, const Input& input) {
  Batch batch(form.counts, form.lengths, form.page_size);
  const std::int64_t T = batch.tokens(), H = form.heads, G = form.groups, K = form.dims, V = form.value_dims;
  Pool pool(device, form, batch.page_count());
  const auto old = slots_of(batch, form, false), all = slots_of(batch, form, true);
  if (form.cached)
    device.backend().write_rows(device.handle(), &pool.cache, old.data(), int(old.size()), input.old_k.data(),
                                form.latent ? nullptr : input.old_v.data());
  const auto q = device.numbers({T, H, K}, input.q), k = device.numbers({T, G, K}, input.k),
             v = device.numbers({T, G, V}, input.v);
  const auto y = device.empty({T, H, V}), sinks = device.numbers({H}, {0.5f, -1, 2, 0}),
             slopes = device.numbers({H}, {0.5f, 0.25f, 0.1f, 0.05f});
  Random random(3);
  const auto bias = device.numbers({32, H}, random.floats(std::size_t(32 * H)));
  const auto frequencies = device.numbers({8}, {1, 0.7f, 0.3f, 0.1f, 0.03f, 0.01f, 0.001f, 0});
  const inlay_rope_op turn_q = {
      .size = sizeof(inlay_rope_op), .x = &q, .frequencies = &frequencies, .magnitude = 1, .dims = 16};
  inlay_rope_op turn_k = turn_q;
  turn_k.x = &k;
  device.run(batch, inlay_attention_op{.size = sizeof(inlay_attention_op),
                                       .mask = form.mask,
                                       .y = form.asked ? &y : nullptr,
                                       .q = form.asked ? &q : nullptr,
                                       .k = form.stored ? &k : nullptr,
                                       .v = form.stored && !form.latent ? &v : nullptr,
                                       .sinks = form.sinks ? &sinks : nullptr,
                                       .slopes = form.slopes ? &slopes : nullptr,
                                       .bias = form.buckets ? &bias : nullptr,
                                       .cache = form.cached ? &pool.cache : nullptr,
                                       .rope_q = form.rope ? &turn_q : nullptr,
                                       .rope_k = form.rope && form.stored ? &turn_k : nullptr,
                                       .scale = form.scale(),
                                       .softcap = form.softcap,
                                       .window = form.window});
  Result result = {form.asked ? device.read(y) : Floats(), Floats(all.size() * std::size_t(G * K)),
                   Floats(all.size() * std::size_t(G * V))};
  if (form.cached)
    device.backend().read_rows(device.handle(), &pool.cache, all.data(), int(all.size()), result.keys.data(),
                               result.values.data());
  return result;
}

// A score is a sum of K products, scaled: off by at most (K + 2) / 2 epsilon times scale sum|q k|, and by 3 epsilon
// more where q and k are turned on the way. That moves its weight by twice as much, relatively, since the sum of
// weights moves as well; exp and biases of size b add epsilon (3 + b), and the sum over L keys L / 2 epsilon. All of it
// is relative to sum p|v|, which is what attention over |v| gives. Where pairs of bfloat16 are multiplied, the
// reference gets queries that are rounded to it, and weights are off by 2^-8.
void check_against_reference(const Candidate& candidate, const Form& form) {
  Device device(candidate), reference(oracle);
  const Input input(form, unsigned(form.mask) + 17);
  const bool key_pairs = multiplies_pairs(candidate, form.k_type, form.cached),
             value_pairs = multiplies_pairs(candidate, form.latent ? form.k_type : form.v_type, form.cached);
  Input met = input;
  for (float& value : met.q) value = key_pairs ? as_bfloat(value) : value;
  const Result got = attend(device, form, input), want = attend(reference, form, met);
  Input positive = met;
  for (Floats* values : {&positive.v, &positive.old_v}) {
    for (float& value : *values) value = std::abs(value);
  }
  Floats weight(want.y.size(), 2.0f);  // of a latent cache: no value is larger
  if (!form.latent) weight = attend(reference, form, positive).y;
  const double length = *std::max_element(form.lengths.begin(), form.lengths.end());
  const double score = form.scale() * 4 * form.dims, bias = form.slopes ? length / 2 : 1;
  const double bound = epsilon * ((form.dims + 8) * score + length / 2 + 2 * bias + 6) + (value_pairs ? 0x1p-8 : 0);
  if (form.asked) check_within(got.y, want.y, [&](std::size_t i) { return bound * (weight[i] + 1e-6); });
  if (form.rope) {
    check_within(got.keys, want.keys, [](std::size_t) { return 4 * epsilon * 4; });
  } else {
    check_equal(got.keys, want.keys);
  }
  if (!form.latent) check_equal(got.values, want.values);
}

template <class Test>
void for_each_candidate(const Test& test) {
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    test(candidate);
  }
}

}  // namespace

TEST_CASE("attention under every mask equals the reference's") {
  for_each_candidate([](const Candidate& candidate) {
    for (const auto& [mask, window] : {std::pair{INLAY_MASK_CAUSAL, 0},
                                       {INLAY_MASK_ALL, 0},
                                       {INLAY_MASK_SLIDING, 7},
                                       {INLAY_MASK_SLIDING, 1},
                                       {INLAY_MASK_CHUNKED, 8},
                                       {INLAY_MASK_SYMMETRIC, 6}}) {
      INFO("mask " << mask);
      check_against_reference(candidate, {.mask = mask, .window = window});
      check_against_reference(candidate, {.mask = mask, .window = window, .cached = false, .lengths = {3, 1, 5}});
      check_against_reference(candidate, {.mask = mask, .window = window, .page_size = 32});
      check_against_reference(candidate, {.mask = mask, .window = window, .page_size = 1});
    }
  });
}

TEST_CASE("attention over every type of cache equals the reference's, and so does what it stores") {
  for_each_candidate([](const Candidate& candidate) {
    for (const std::uint32_t k_type : {INLAY_F32, INLAY_F16, INLAY_BF16, INLAY_Q8_0, INLAY_Q4_0}) {
      for (const std::uint32_t v_type : {INLAY_F32, INLAY_F16, INLAY_BF16, INLAY_Q8_0, INLAY_Q4_0}) {
        INFO("keys of type " << k_type << ", values of type " << v_type);
        check_against_reference(candidate,
                                {.k_type = k_type, .v_type = v_type, .page_size = 16, .rope = k_type == INLAY_F32});
        check_against_reference(candidate, {.k_type = k_type, .v_type = v_type, .page_size = 3});
      }
    }
  });
}

TEST_CASE("attention with sinks, caps, slopes, buckets, rotations and unlike heads equals the reference's") {
  for_each_candidate([](const Candidate& candidate) {
    check_against_reference(candidate, {.softcap = 5});
    check_against_reference(candidate, {.sinks = true});
    check_against_reference(candidate, {.slopes = true});
    check_against_reference(candidate, {.mask = INLAY_MASK_SYMMETRIC, .window = 40, .slopes = true});
    check_against_reference(candidate, {.buckets = true});
    check_against_reference(candidate,
                            {.mask = INLAY_MASK_ALL, .buckets = true, .cached = false, .lengths = {3, 1, 5}});
    check_against_reference(candidate, {.rope = true});
    check_against_reference(candidate, {.cached = false, .rope = true, .lengths = {3, 1, 5}});
    check_against_reference(candidate,
                            {.groups = 1, .dims = 80, .value_dims = 48, .softcap = 9, .sinks = true, .rope = true});
    check_against_reference(candidate, {.groups = 4, .dims = 24, .value_dims = 24, .page_size = 16});
    check_against_reference(candidate, {.groups = 1, .dims = 48, .value_dims = 32, .latent = true, .rope = true});
    check_against_reference(candidate, {.mask = INLAY_MASK_ALL, .stored = false});
    check_against_reference(candidate,
                            {.mask = INLAY_MASK_ALL, .stored = false, .counts = {70, 2}, .lengths = {9, 33}});
    for (const int page_size : {3, 16}) {
      check_against_reference(candidate, {.k_type = INLAY_F16, .page_size = page_size, .asked = false});
      check_against_reference(candidate, {.page_size = page_size, .rope = true, .asked = false});
    }
  });
}

TEST_CASE("attention over numbers of bfloat16 equals the reference's for odd sizes, windows and latents") {
  for_each_candidate([](const Candidate& candidate) {
    const Form form = {.k_type = INLAY_BF16, .v_type = INLAY_BF16, .page_size = 16};
    for (const int window : {1, 7, 40}) {
      Form other = form;
      other.mask = INLAY_MASK_SLIDING, other.window = window;
      check_against_reference(candidate, other);
    }
    for (const int page_size : {1, 16}) {
      Form other = form;
      other.groups = 1, other.dims = 47, other.value_dims = 33, other.page_size = page_size;
      check_against_reference(candidate, other);
      other.latent = true;
      check_against_reference(candidate, other);
    }
  });
}

TEST_CASE("attention over thousands of keys equals the reference's") {
  for_each_candidate([](const Candidate& candidate) {
    for (const std::uint32_t type : {INLAY_F32, INLAY_F16, INLAY_BF16, INLAY_Q8_0}) {
      check_against_reference(
          candidate, {.k_type = type, .v_type = type, .page_size = 16, .counts = {2, 1}, .lengths = {1500, 2049}});
    }
  });
}

// The same sequence as a whole, in chunks over one cache, one by one, and beside another sequence.
TEST_CASE("attention in chunks gives the bits of the whole") {
  for_each_candidate([](const Candidate& candidate) {
    for (const std::uint32_t type : {INLAY_F32, INLAY_F16, INLAY_BF16, INLAY_Q8_0, INLAY_Q4_0}) {
      const Form whole = {
          .k_type = type, .v_type = type, .page_size = 16, .rope = true, .counts = {600}, .lengths = {600}};
      const Input input(whole, 5);
      Device device(candidate);
      const Result want = attend(device, whole, input);
      for (const int first : {1, 63, 64, 65, 511, 597, 599}) {
        Form part = whole;
        part.counts = {600 - first};
        Input rest = input;
        rest.q.erase(rest.q.begin(), rest.q.begin() + first * part.heads * part.dims);
        rest.k.erase(rest.k.begin(), rest.k.begin() + first * part.groups * part.dims);
        rest.v.erase(rest.v.begin(), rest.v.begin() + first * part.groups * part.value_dims);
        rest.old_k = want.keys;
        rest.old_v = want.values;
        const Result got = attend(device, part, rest);
        check_equal(got.y, Floats(want.y.begin() + first * part.heads * part.value_dims, want.y.end()));
      }
      Device team(candidate, 2), serial(candidate, 3, true);
      check_equal(attend(team, whole, input).y, want.y);
      check_equal(attend(serial, whole, input).y, want.y);
    }
  });
}

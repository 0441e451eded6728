// Proves that buffers of scratch memory which are needed at one time lie apart, and that others share their place.
#include <random>

#include "runtime/step.hpp"
#include "tests/support/catch.hpp"

namespace {

using inlay::runtime::Buffer;
using inlay::runtime::Kept;
using inlay::runtime::Record;

// A pass of sums: operation i reads two buffers and writes one.
class Pass {
 public:
  void add(int y, int a, int b) {
    auto& r = list_.emplace_back();
    r.op = INLAY_OP_BINARY;
    r.binary = {.size = sizeof r.binary, .y = in(y), .a = in(a), .b = in(b)};
  }
  std::size_t place(std::vector<Buffer>& buffers, int given, int result) const {
    for (int i = 0; i < int(buffers.size()); ++i) {
      buffers[std::size_t(i)].is_given = i == given, buffers[std::size_t(i)].is_result = i == result;
    }
    return inlay::runtime::place(list_, buffers);
  }
  bool needs(std::size_t i, int buffer) const {
    const auto is = [&](const inlay_tensor* t) { return t && static_cast<const Kept*>(t)->buffer == buffer; };
    return is(list_[i].binary.y) || is(list_[i].binary.a) || is(list_[i].binary.b);
  }
  std::size_t size() const { return list_.size(); }

 private:
  const inlay_tensor* in(int buffer) { return &tensors_.emplace_back(Kept{{}, buffer}); }
  std::vector<Record> list_;
  std::deque<Kept> tensors_;
};

bool apart(const Buffer& a, const Buffer& b) { return a.place + a.bytes <= b.place || b.place + b.bytes <= a.place; }

}  // namespace

TEST_CASE("what is needed no more gives its place to what comes next, and what nobody needs has none") {
  std::vector<Buffer> buffers;
  for (const std::size_t bytes : {64, 128, 1024, 128, 64}) buffers.push_back({0, bytes});
  Pass pass;
  pass.add(1, 0, -1);  // buffer 2 was made for what joining took away
  pass.add(3, 1, -1);
  pass.add(4, 3, 0);
  CHECK(pass.place(buffers, -1, 4) == 64 + 128 + 128);
  CHECK(buffers[4].place == 64);
  CHECK(pass.place(buffers, -1, 1) == 64 + 128 + 128 + 64);  // that one stays to the end
  CHECK(pass.place(buffers, 3, 4) == 64 + 128 + 128);
}

TEST_CASE("buffers that are needed at one time lie apart, whatever the pass") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Buffer> buffers;
    const auto count = 2 + int(random() % 20);
    std::size_t all = 0;
    for (int i = 0; i < count; ++i) buffers.push_back({0, 64 * (1 + random() % 9)}), all += buffers.back().bytes;
    Pass pass;
    const auto any = [&] { return int(random() % std::uint32_t(count + 1)) - 1; };  // or none
    for (std::uint32_t i = 1 + random() % 15; i > 0; --i) pass.add(any(), any(), any());
    const int given = any(), result = any();
    const std::size_t bytes = pass.place(buffers, given, result);
    CHECK(bytes <= all);
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < a; ++b) {
        bool together = false;
        std::size_t first[2] = {pass.size(), pass.size()}, last[2] = {0, 0};
        for (std::size_t i = 0; i < pass.size(); ++i) {
          for (const int k : {0, 1})
            if (pass.needs(i, k ? b : a)) first[k] = std::min(first[k], i), last[k] = i;
        }
        for (const int k : {0, 1})
          if (given == (k ? b : a)) first[k] = 0;
        for (const int k : {0, 1})
          if (result == (k ? b : a)) last[k] = pass.size();
        for (std::size_t i = 0; i <= pass.size(); ++i)
          together |= first[0] <= i && i <= last[0] && first[1] <= i && i <= last[1];
        const bool used = first[0] < pass.size() && first[1] < pass.size();
        if (used && together) CHECK(apart(buffers[std::size_t(a)], buffers[std::size_t(b)]));
      }
    }
    for (int i = 0; i < count; ++i) {
      if (buffers[std::size_t(i)].first < pass.size())
        CHECK(buffers[std::size_t(i)].place + buffers[std::size_t(i)].bytes <= bytes);
    }
  }
}

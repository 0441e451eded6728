// Proves: work that is done aside is done when it was waited for, one after the other, and before the thread ends.
#include "base/aside.hpp"

#include "tests/support/catch.hpp"

namespace {

using inlay::base::Aside;

TEST_CASE("what is started is done when it was waited for, and in its turn") {
  std::vector<int> done;  // no lock: wait() and start() order the accesses
  {
    Aside aside;
    aside.wait();  // for nothing
    for (int i = 0; i < 1000; ++i) {
      aside.start([&done, i] { done.push_back(i); });
      if (i % 3 == 0) {
        aside.wait();
        REQUIRE(done.size() == std::size_t(i) + 1);
      }
    }
    std::thread::id here = std::this_thread::get_id(), there = here;
    aside.start([&] { there = std::this_thread::get_id(); });
    aside.wait();
    CHECK(there != here);
    aside.start([&] { done.push_back(1000); });
  }
  REQUIRE(done.size() == 1001);
  for (int i = 0; i <= 1000; ++i) REQUIRE(done[std::size_t(i)] == i);
}

}  // namespace

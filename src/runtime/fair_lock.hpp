// A lock that is given to its waiters in the order of their coming.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace inlay::runtime {

class FairLock {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    const auto mine = next_++;
    changed_.wait(guard, [&] { return serving_ == mine; });
  }
  void unlock() {
    {
      std::lock_guard guard(mutex_);
      ++serving_;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, serving_ = 0;
};

}  // namespace inlay::runtime

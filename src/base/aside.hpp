// One thread that works beside its caller.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace inlay::base {

class Aside {
 public:
  Aside() : thread_([this] { live(); }) {}  // throws std::system_error
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // Begins work that must not throw, when what came before is done.
  void start(std::function<void()> work);
  void wait() noexcept;  // until it is done

 private:
  void live();

  std::mutex mutex_;  // of the two below
  std::condition_variable changed_;
  std::function<void()> work_;  // empty: done
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace inlay::base

// Handing work to the thread, and waiting for it.
#include "base/aside.hpp"

namespace inlay::base {

Aside::~Aside() {
  {
    std::lock_guard guard(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Aside::start(std::function<void()> work) {
  wait();
  {
    std::lock_guard guard(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

void Aside::wait() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !work_; });
}

void Aside::live() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [&] { return ending_ || work_; });
    if (!work_) return;
    lock.unlock();
    work_();
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace inlay::base

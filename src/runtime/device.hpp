// One opened device of a backend, and what the host lends it: memory, threads, a log, a way to cancel.
#pragma once

#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "inlay/backend.h"
#include "inlay/error.hpp"

namespace inlay::runtime {

struct DeviceOptions {
  int threads = 0;
  std::string isa = {};
  std::pmr::memory_resource* memory = nullptr;
  std::function<void(int level, std::string_view)> log = {};
  std::function<void(int n, const std::function<void(int)>&)> parallel = {};
};

class Device {
 public:
  Device(const inlay_backend* backend, DeviceOptions options);  // throws Error{device}
  ~Device() { table_->close(handle_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const inlay_backend& table() const noexcept { return *table_; }
  inlay_device* handle() const noexcept { return handle_; }
  std::uint32_t cache_type() const noexcept {  // of keys and values where nobody chose one
    return table_->cache_type ? table_->cache_type(handle_) : std::uint32_t{INLAY_F16};
  }
  const DeviceOptions& options() const noexcept { return options_; }
  std::pmr::memory_resource* memory() const noexcept { return base::or_heap(options_.memory); }  // of the host
  void warn(std::string_view message) const {
    constexpr int warning = 2;  // of inlay::Level
    if (options_.log) options_.log(warning, message);
  }

  base::HostThreads threads() noexcept { return {this, host_.parallel}; }

  void* allocate(std::size_t bytes) const;  // throws Error{memory}
  void release(void* memory, std::size_t bytes) const noexcept {
    if (memory) table_->release(handle_, memory, bytes);
  }

  // What a running step asks at its layer marks; null: nothing. Set before end(), by the thread that calls it.
  void cancel_when(const std::function<bool()>* asked) noexcept { asked_ = asked; }
  bool should_stop() const { return asked_ && *asked_ && (*asked_)(); }

 private:
  const inlay_backend* table_;
  DeviceOptions options_;
  const std::function<bool()>* asked_ = nullptr;
  inlay_host host_ = {};
  inlay_device* handle_ = nullptr;
};

// While it lives, the device's steps ask `stop`.
class CancelWhen {
 public:
  CancelWhen(Device& device, const std::function<bool()>& stop) : device_(device) { device.cancel_when(&stop); }
  ~CancelWhen() { device_.cancel_when(nullptr); }
  CancelWhen(const CancelWhen&) = delete;
  CancelWhen& operator=(const CancelWhen&) = delete;

 private:
  Device& device_;
};

// Bytes on a device, released with the object.
class Block {
 public:
  Block() = default;
  Block(const Device& device, std::size_t bytes) : device_(&device), bytes_(bytes), data_(device.allocate(bytes)) {}
  Block(Block&& other) noexcept { swap(other); }
  Block& operator=(Block&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Block() {
    if (data_) device_->release(data_, bytes_);
  }

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(Block& other) noexcept {
    std::swap(device_, other.device_), std::swap(bytes_, other.bytes_), std::swap(data_, other.data_);
  }
  const Device* device_ = nullptr;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace inlay::runtime

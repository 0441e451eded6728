// Opening a device, and the callbacks through which it reaches the host.
#include "runtime/device.hpp"

#include <new>

namespace inlay::runtime {

namespace {

Device& device(void* self) { return *static_cast<Device*>(self); }

void log(void* self, int level, const char* utf8) {
  if (const auto& to = device(self).options().log) to(level, utf8);
}

int cancelled(void* self) { return device(self).should_stop(); }

void parallel(void* self, int n, void (*body)(void*, int), void* context) {
  device(self).options().parallel(n, [=](int i) { body(context, i); });
}

void* allocate_memory(void* self, std::size_t bytes, std::size_t align) {
  try {
    return device(self).options().memory->allocate(bytes, align);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release_memory(void* self, void* memory, std::size_t bytes, std::size_t align) {
  device(self).options().memory->deallocate(memory, bytes, align);
}

}  // namespace

Device::Device(const inlay_backend* backend, DeviceOptions given) : table_(backend), options_(std::move(given)) {
  host_.size = sizeof(host_);
  host_.threads = options_.threads;
  host_.isa = options_.isa.empty() ? nullptr : options_.isa.c_str();
  host_.self = this;
  host_.log = log;
  host_.cancelled = cancelled;
  if (options_.parallel) host_.parallel = parallel;
  if (options_.memory) host_.alloc = allocate_memory, host_.release = release_memory;
  char message[512] = "";
  handle_ = table_->open(&host_, message, sizeof(message));
  if (!handle_ && !message[0]) throw std::bad_alloc();
  // A name that cannot be used is the caller's mistake; anything else is the device's.
  if (!handle_) throw Error(options_.isa.empty() ? Errc::device : Errc::argument, message, Fault::none, table_->name);
}

void* Device::allocate(std::size_t bytes) const {
  void* memory = table_->alloc(handle_, bytes);
  if (!memory)
    throw Error(Errc::memory, "no memory for " + std::to_string(bytes) + " bytes on the device " + table_->name);
  return memory;
}

}  // namespace inlay::runtime

// Recurrent states in a device's memory.
#pragma once

#include "tests/backends/harness.hpp"

namespace backends {

inline constexpr std::int64_t state_offset = 64;

// Slots 1 and 2 of a pool, which start as zeros; each mixer's own state lies behind another's.
struct States {
  Device& device;
  inlay_cache cache = {.size = sizeof cache, .kind = INLAY_CACHE_STATE, .segment_pages = 2, .k_offset = 64};
  void* segments[2];
  const std::int32_t slots[2] = {1, 2};

  States(Device& d, std::int64_t floats) : device(d) {
    cache.state_bytes = state_offset + floats * 4;
    cache.page_stride = (cache.state_bytes + 127) / 64 * 64 + 64;
    for (void*& segment : segments) segment = device.memory(std::size_t(2 * cache.page_stride));
    cache.segments = segments;
    const Floats zeros(std::size_t(cache.state_bytes / 2));
    device.backend().write_rows(device.handle(), &cache, slots, 2, zeros.data(), nullptr);
  }
  Floats read() const {
    Floats both(std::size_t(cache.state_bytes / 2));
    device.backend().read_rows(device.handle(), &cache, slots, 2, both.data(), nullptr);
    return both;
  }
};

}  // namespace backends

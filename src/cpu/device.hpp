// What backend.cpp asks of a device: the recorded list of a step, and the acts in which the kernels and the reference
// differ.
#pragma once

#include "base/memory.hpp"
#include "cpu/kernels.hpp"
#include "cpu/memory.hpp"
#include "inlay/backend.h"

namespace inlay::cpu {

inline constexpr std::uint32_t layer_mark = INLAY_OP_COUNT;  // in the list: a layer begins here

struct Recorded {
  std::uint32_t op;   // inlay_op or layer_mark
  int layer;          // of a mark
  const void* given;  // the caller's struct of that operation
};

}  // namespace inlay::cpu

// The contract's opaque device. Acts may throw std::bad_alloc; backend.cpp turns it into a status.
struct inlay_device {
  explicit inlay_device(const inlay_host& given)
      : host(given), list(inlay::cpu::HostAllocator<inlay::cpu::Recorded>(host)) {}
  inlay_device(const inlay_device&) = delete;
  inlay_device& operator=(const inlay_device&) = delete;
  virtual ~inlay_device() = default;

  virtual const char* isa() const noexcept = 0;
  virtual std::uint32_t cache_type() const noexcept { return INLAY_F16; }
  virtual const char* layout() const noexcept = 0;
  virtual bool can(std::uint32_t op, const void* given) const noexcept = 0;
  virtual std::size_t pack(const inlay_tensor& source, std::uint32_t role, std::int64_t first_row, std::int64_t rows,
                           inlay_tensor& packed) const noexcept = 0;
  virtual std::size_t cache_bytes(const inlay_cache& cache, int which) const noexcept = 0;
  virtual void read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k,
                         float* v) const noexcept = 0;
  virtual void write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k,
                          const float* v) const noexcept = 0;
  virtual std::size_t workspace() = 0;       // private bytes that running the list takes
  virtual inlay_step_status run_list() = 0;  // runs what begin() to end() recorded
  virtual void count(inlay_counters& counters) const noexcept = 0;

  inlay_host host;
  inlay::base::Release place;  // of this object in the host's memory; close() says in which resource
  inlay_batch batch = {};
  inlay::cpu::HostVector<inlay::cpu::Recorded> list;
  bool list_lost = false;  // an operation could not be recorded for lack of memory
};

namespace inlay::cpu {

// A device in its host's memory, for close() to end.
template <class T, class... Arguments>
inlay_device* open_in(const inlay_host& host, const Arguments&... arguments) {
  HostMemory memory(host);
  auto device = base::make<T>(&memory, host, arguments...);
  device->place = device.get_deleter();
  return device.release();
}

inlay_device* open_kernels(const inlay_host& host, const Kernels& kernels);

}  // namespace inlay::cpu

// The contract's table of functions, over either kind of device. Nothing throws beyond this file.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "base/machine.hpp"
#include "cpu/cpu.hpp"
#include "cpu/device.hpp"
#include "cpu/reference.hpp"

namespace inlay::cpu {
namespace {

constexpr std::string_view reference_name = "reference";

void say(char* message, std::size_t capacity, const char* text) noexcept {
  if (message && capacity) std::snprintf(message, capacity, "%s", text);
}

// The host's struct may be older and shorter than ours.
inlay_host whole(const inlay_host* given) noexcept {
  inlay_host host = {};
  if (given) std::memcpy(&host, given, std::min<std::size_t>(given->size, sizeof host));
  host.size = sizeof host;
  return host;
}

const Kernels* find_kernels(const char* name) noexcept {
  for (int i = 0; const Kernels* kernels = usable(i); ++i) {
    if (!name || std::string_view(kernels->name) == name) return kernels;
  }
  return nullptr;
}

void name_the_usable(const char* wanted, char* message, std::size_t capacity) noexcept {
  char names[160] = "";
  std::size_t length = 0;
  for (int i = 0; const Kernels* kernels = usable(i); ++i) {
    const int more = std::snprintf(names + length, sizeof names - length, "%s, ", kernels->name);
    length = std::min(sizeof names - 1, length + static_cast<std::size_t>(std::max(more, 0)));
  }
  if (!message || !capacity) return;
  std::snprintf(message, capacity, "instruction set '%.40s' cannot be used here; usable are %s%s", wanted, names,
                reference_name.data());
}

int device_count() noexcept { return 1; }

inlay_device* open(const inlay_host* given, char* message, std::size_t capacity) noexcept {
  const inlay_host host = whole(given);
  try {
    if (host.isa && host.isa == reference_name) return open_reference(host);
    if (const Kernels* kernels = find_kernels(host.isa)) return open_kernels(host, *kernels);
    name_the_usable(host.isa, message, capacity);
  } catch (const std::bad_alloc&) {
    say(message, capacity, "");
  } catch (const std::exception& error) {  // no threads
    say(message, capacity, error.what());
  }
  return nullptr;
}

void close(inlay_device* device) noexcept {
  if (!device) return;
  HostMemory memory(device->host);
  auto release = device->place;
  release.memory = &memory;
  release(device);
}

const char* isa(inlay_device* device) noexcept { return device->isa(); }
const char* layout(inlay_device* device) noexcept { return device->layout(); }

int can(inlay_device* device, std::uint32_t op, const void* given) noexcept { return device->can(op, given); }

void* allocate_memory(inlay_device* device, std::size_t bytes) noexcept {
  void* memory = allocate(device->host, bytes);
  if (memory) base::prefer_large_pages(memory, bytes);
  return memory;
}
void release_memory(inlay_device* device, void* memory, std::size_t bytes) noexcept {
  release(device->host, memory, bytes);
}
void copy(inlay_device*, void* to, const void* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }

std::size_t pack(inlay_device* device, const inlay_tensor* source, std::uint32_t role, std::int64_t first_row,
                 std::int64_t rows, inlay_tensor* packed) noexcept {
  return device->pack(*source, role, first_row, rows, *packed);
}

std::size_t cache_bytes(inlay_device* device, const inlay_cache* cache, int which) noexcept {
  return device->cache_bytes(*cache, which);
}
void read_rows(inlay_device* device, const inlay_cache* cache, const std::int32_t* slots, int n, float* k,
               float* v) noexcept {
  device->read_rows(*cache, slots, n, k, v);
}
void write_rows(inlay_device* device, const inlay_cache* cache, const std::int32_t* slots, int n, const float* k,
                const float* v) noexcept {
  device->write_rows(*cache, slots, n, k, v);
}

std::size_t workspace(inlay_device* device, int, int, int) noexcept {
  try {
    return device->workspace();
  } catch (const std::bad_alloc&) {
    return SIZE_MAX;
  }
}

int begin(inlay_device* device, const inlay_batch* batch) noexcept {
  device->batch = {};
  std::memcpy(&device->batch, batch, std::min<std::size_t>(batch->size, sizeof device->batch));
  device->list.clear();
  device->list_lost = false;
  return INLAY_STEP_DONE;
}

void record(inlay_device* device, const Recorded& item) noexcept {
  try {
    device->list.push_back(item);
  } catch (const std::bad_alloc&) {
    device->list_lost = true;
  }
}

void mark(inlay_device* device, int layer) noexcept { record(device, {layer_mark, layer, nullptr}); }

int end(inlay_device* device, char* message, std::size_t capacity) noexcept {
  inlay_step_status status = INLAY_STEP_MEMORY;
  try {
    if (!device->list_lost) status = device->run_list();
  } catch (const std::bad_alloc&) {
  }
  if (status == INLAY_STEP_MEMORY) say(message, capacity, "out of memory for the step's workspace");
  if (status == INLAY_STEP_CANCELLED) say(message, capacity, "the step was cancelled");
  return status;
}

std::uint32_t cache_type(inlay_device* device) noexcept { return device->cache_type(); }

void counters(inlay_device* device, inlay_counters* given) noexcept {
  inlay_counters counters = {.size = given->size};
  device->count(counters);
  std::memcpy(given, &counters, std::min<std::size_t>(given->size, sizeof counters));
}

template <std::uint32_t op, class Operation>
void record_operation(inlay_device* device, const Operation* operation) noexcept {
  record(device, {op, 0, operation});
}

constexpr inlay_ops ops = {
    .size = sizeof(inlay_ops),
    .embed = record_operation<INLAY_OP_EMBED, inlay_embed_op>,
    .norm = record_operation<INLAY_OP_NORM, inlay_norm_op>,
    .linear = record_operation<INLAY_OP_LINEAR, inlay_linear_op>,
    .binary = record_operation<INLAY_OP_BINARY, inlay_binary_op>,
    .glu = record_operation<INLAY_OP_GLU, inlay_glu_op>,
    .rope = record_operation<INLAY_OP_ROPE, inlay_rope_op>,
    .attention = record_operation<INLAY_OP_ATTENTION, inlay_attention_op>,
    .pick = record_operation<INLAY_OP_PICK, inlay_pick_op>,
    .route = record_operation<INLAY_OP_ROUTE, inlay_route_op>,
    .experts = record_operation<INLAY_OP_EXPERTS, inlay_experts_op>,
    .scan = record_operation<INLAY_OP_SCAN, inlay_scan_op>,
    .choose = record_operation<INLAY_OP_CHOOSE, inlay_choose_op>,
};

constexpr inlay_backend table = {
    .size = sizeof(inlay_backend),
    .abi = INLAY_BACKEND_ABI,
    .name = "cpu",
    .device_count = device_count,
    .open = open,
    .close = close,
    .isa = isa,
    .can = can,
    .alloc = allocate_memory,
    .release = release_memory,
    .upload = copy,
    .download = copy,
    .copy = copy,
    .layout = layout,
    .pack = pack,
    .cache_bytes = cache_bytes,
    .read_rows = read_rows,
    .write_rows = write_rows,
    .workspace = workspace,
    .begin = begin,
    .mark = mark,
    .end = end,
    .counters = counters,
    .ops = &ops,
    .cache_type = cache_type,
};

}  // namespace

const inlay_backend* backend() noexcept { return &table; }

}  // namespace inlay::cpu

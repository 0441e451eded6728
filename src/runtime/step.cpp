// Recording a forward pass, giving it memory, and handing it to the backend.
#include "runtime/step.hpp"

#include <algorithm>

namespace inlay::runtime {

namespace {

void submit(const inlay_backend& table, inlay_device* device, const Record& r) {
  const auto& ops = *table.ops;
  switch (r.op) {
    case INLAY_OP_EMBED: return ops.embed(device, &r.embed);
    case INLAY_OP_NORM: return ops.norm(device, &r.norm);
    case INLAY_OP_LINEAR: return ops.linear(device, &r.linear);
    case INLAY_OP_BINARY: return ops.binary(device, &r.binary);
    case INLAY_OP_GLU: return ops.glu(device, &r.glu);
    case INLAY_OP_ROPE: return ops.rope(device, &r.rope);
    case INLAY_OP_ATTENTION: return ops.attention(device, &r.attention);
    case INLAY_OP_PICK: return ops.pick(device, &r.pick);
    case INLAY_OP_ROUTE: return ops.route(device, &r.route);
    case INLAY_OP_EXPERTS: return ops.experts(device, &r.experts);
    case INLAY_OP_SCAN: return ops.scan(device, &r.scan);
    case INLAY_OP_CHOOSE: return ops.choose(device, &r.choose);
    default: return table.mark(device, r.layer);
  }
}

constexpr const char* op_names[] = {"embed",     "norm", "linear", "binary",  "glu",  "rope",
                                    "attention", "pick", "route",  "experts", "scan", "choose"};

Errc code_of(int status) {
  switch (status) {
    case INLAY_STEP_MEMORY: return Errc::memory;
    case INLAY_STEP_CANCELLED: return Errc::cancelled;
    default: return Errc::device;
  }
}

}  // namespace

void Record::bind() {
  if (op == INLAY_OP_LINEAR) {
    linear.y = y, linear.w = w, linear.bias = bias, linear.scale = scale;
    linear.norm = norm_before.size ? &norm_before : nullptr;
    linear.glu = glu_after.size ? &glu_after : nullptr;
  } else if (op == INLAY_OP_ATTENTION) {
    attention.rope_q = rope_q.size ? &rope_q : nullptr;
    attention.rope_k = rope_k.size ? &rope_k : nullptr;
  } else if (op == INLAY_OP_SCAN) {
    scan.in = in;
  }
}

}  // namespace inlay::runtime

namespace inlay {
inline namespace v0 {
namespace nn {

runtime::Record& Step::State::add(std::uint32_t op) {
  auto& record = pass->list.emplace_back();
  record.op = op;
  return record;
}

namespace {

// Where scratch memory begins while a pass is recorded: no null pointer lies in it.
// NOLINTNEXTLINE(performance-no-int-to-ptr): nobody reads there
std::byte* const recorded_base = reinterpret_cast<std::byte*>(std::uintptr_t{64});

}  // namespace

std::byte* Step::State::take(std::size_t bytes) {
  open_.push_back(int(buffers_.size()));
  buffers_.push_back({used, bytes});
  used += bytes;
  return recorded_base + buffers_.back().begin;
}

void Step::State::give_back(std::size_t kept) {
  while (!open_.empty() && buffers_[std::size_t(open_.back())].begin >= kept) open_.pop_back();
  used = kept;
}

int Step::State::buffer_of(const Tensor& tensor) const noexcept {
  const auto holds = [&](int i) {
    const auto& buffer = buffers_[std::size_t(i)];
    const auto* begin = recorded_base + buffer.begin;
    return tensor.view.data >= begin && tensor.view.data < begin + buffer.bytes;
  };
  const auto found = tensor.step ? std::find_if(open_.rbegin(), open_.rend(), holds) : open_.rend();
  return found == open_.rend() ? -1 : *found;
}

std::size_t Step::State::trace(const Network& network, const Sizes& wanted_sizes, std::int32_t* wanted_rows,
                               bool joined) {
  pass->list.clear(), pass->tensors.clear();
  pass->output = pass->given = pass->hidden = {};
  buffers_.clear(), open_.clear();
  used = 0;
  pass->sizes = wanted_sizes;
  rows = {wanted_rows, INLAY_I32, 1, {wanted_sizes.wanted}, {sizeof(std::int32_t)}};
  Step step(*this);
  try {
    pass->output = network.forward(step);
    if (joined) runtime::join(pass->list);
    for (auto& operation : pass->list) operation.bind();
    for (const auto* needed : {&pass->output, &pass->hidden}) {
      if (const int i = buffer_of(*needed); i >= 0) buffers_[std::size_t(i)].is_result = true;
    }
    if (const int i = buffer_of(pass->given); i >= 0) buffers_[std::size_t(i)].is_given = true;
    return runtime::place(pass->list, buffers_, device.memory());
  } catch (...) {
    pass->sizes = {};  // half a list is no list, nor is one that was joined by half
    throw;
  }
}

void Step::State::move_to_places() {
  const auto move = [&](inlay_tensor& tensor, int index) {
    if (index < 0) return;
    const auto& buffer = buffers_[std::size_t(index)];
    const auto within = static_cast<std::byte*>(tensor.data) - recorded_base - std::ptrdiff_t(buffer.begin);
    tensor.data = static_cast<std::byte*>(memory.data()) + buffer.place + within;
  };
  for (auto& tensor : pass->tensors) move(tensor, tensor.buffer);
  for (auto* tensor : {&pass->output, &pass->given, &pass->hidden}) move(tensor->view, buffer_of(*tensor));
}

std::size_t Step::State::measure(const Network& network, const Sizes& wanted_sizes) {
  const auto bytes = trace(network, wanted_sizes, nullptr, true);
  pass->sizes = {};
  return bytes;
}

// Whether a pass of these sizes is recorded; the one of before is put aside. Passes go as a whole or not at all.
bool Step::State::find(const Sizes& sizes) {
  if (pass->sizes == sizes) return true;
  const auto known = std::ranges::find_if(others_, [&](const auto& other) { return other->sizes == sizes; });
  const bool found = known != others_.end(), keeps = pass->sizes != Sizes{};
  if (found) {
    std::swap(pass, *known);
    std::rotate(known, known + 1, others_.end());
    if (!keeps) others_.pop_back();
  } else if (keeps) {
    auto fresh = base::make<Pass>(device.memory(), device.memory());
    others_.push_back(std::move(pass));
    pass = std::move(fresh);
    if (others_.size() > most_passes) others_.erase(others_.begin());
  }
  return found;
}

void Step::State::record(const Network& network, const Sizes& sizes, std::int32_t* wanted_rows, bool joined) {
  if (find(sizes)) {
    rows = {wanted_rows, INLAY_I32, 1, {sizes.wanted}, {sizeof(std::int32_t)}};
    return;
  }
  const auto needed = trace(network, sizes, wanted_rows, joined);
  if (needed > memory.bytes()) {
    pass->sizes = {};  // until there is memory
    others_.clear();
    memory = {};
    memory = runtime::Block(device, needed);
    pass->sizes = sizes;
  }
  move_to_places();
}

void Step::State::check() const {
  for (const auto& record : pass->list) {
    if (record.op == INLAY_OP_COUNT) continue;
    if (!device.table().can(device.handle(), record.op, &record.embed))
      throw Error(Errc::unsupported,
                  std::string("the backend ") + device.table().name + " cannot do the operation " +
                      runtime::op_names[record.op] + " that this model needs",
                  Fault::unsupported, runtime::op_names[record.op]);
  }
}

void Step::State::submit(const inlay_batch& batch) {
  const auto& table = device.table();
  if (const int status = table.begin(device.handle(), &batch); status != INLAY_STEP_DONE)
    throw Error(runtime::code_of(status), "the step could not begin", Fault::none, table.name);
  for (const auto& record : pass->list) runtime::submit(table, device.handle(), record);
}

std::size_t Step::State::workspace(const inlay_batch& batch) {
  submit(batch);
  return device.table().workspace(device.handle(), batch.tokens, int(rows.shape[0]), batch.seqs);
}

void Step::State::run(const inlay_batch& batch) {
  submit(batch);
  char message[256] = "";
  const int status = device.table().end(device.handle(), message, sizeof(message));
  if (status != INLAY_STEP_DONE)
    throw Error(runtime::code_of(status), *message ? message : "the step did not finish", Fault::none,
                device.table().name);
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay

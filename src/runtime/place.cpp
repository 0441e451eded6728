// Gives a recorded pass its places in scratch memory: what is never needed at the same time shares one.
#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/step.hpp"

namespace inlay::runtime {

namespace {

// Calls act for every tensor of an operation that may lie in scratch memory.
template <class Act>
void for_each_tensor(const Record& r, const Act& act) {
  const auto all = [&](std::initializer_list<const inlay_tensor*> tensors) {
    for (const auto* tensor : tensors)
      if (tensor) act(static_cast<const Kept&>(*tensor));
  };
  switch (r.op) {
    case INLAY_OP_EMBED: return all({r.embed.y, r.embed.table});
    case INLAY_OP_NORM: return all({r.norm.y, r.norm.x, r.norm.gain, r.norm.bias});
    case INLAY_OP_LINEAR:
      for (int i = 0; i < r.linear.n; ++i) all({r.y[i], r.w[i], r.bias[i]});
      return all({r.linear.x, r.linear.add, r.norm_before.gain, r.norm_before.bias});
    case INLAY_OP_BINARY: return all({r.binary.y, r.binary.a, r.binary.b});
    case INLAY_OP_GLU: return all({r.glu.y, r.glu.gate, r.glu.up});
    case INLAY_OP_ROPE: return all({r.rope.x, r.rope.frequencies});
    case INLAY_OP_ATTENTION: {
      const auto& a = r.attention;
      return all({a.y, a.q, a.k, a.v, a.sinks, a.slopes, a.bias, a.choice, r.rope_q.frequencies, r.rope_k.frequencies});
    }
    case INLAY_OP_PICK: return all({r.pick.y, r.pick.x});
    case INLAY_OP_ROUTE: return all({r.route.choice, r.route.weight, r.route.logits, r.route.bias, r.route.factor});
    case INLAY_OP_EXPERTS: {
      const auto& e = r.experts;
      all({e.gate, e.up, e.down, e.gate_bias, e.up_bias, e.down_bias});
      return all({e.y, e.x, e.choice, e.weight});
    }
    case INLAY_OP_SCAN:
      for (int i = 0; i < r.scan.n; ++i) all({r.in[i]});
      return all({r.scan.y, r.scan.x});
    case INLAY_OP_CHOOSE: return all({r.choose.y, r.choose.q, r.choose.k, r.choose.weight});
    default: return;
  }
}

// When each buffer is needed: from its first operation to its last. Nothing stays for those that joining left unused.
void find_uses(std::span<const Record> list, std::span<Buffer> buffers) {
  for (auto& buffer : buffers) {
    buffer.first = buffer.is_given ? 0 : std::numeric_limits<std::size_t>::max();
    buffer.last = buffer.is_result ? list.size() : 0;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    for_each_tensor(list[i], [&](const Kept& tensor) {
      if (tensor.buffer < 0) return;
      auto& buffer = buffers[std::size_t(tensor.buffer)];
      buffer.first = std::min(buffer.first, i), buffer.last = std::max(buffer.last, i);
    });
  }
}

}  // namespace

std::size_t place(std::span<const Record> list, std::span<Buffer> buffers, std::pmr::memory_resource* memory) {
  find_uses(list, buffers);
  std::pmr::vector<Buffer*> waiting(memory),
      placed(memory);  // in the order of their first use; in the order of their places
  for (auto& buffer : buffers)
    if (buffer.first <= buffer.last) waiting.push_back(&buffer);
  std::sort(waiting.begin(), waiting.end(),
            [](const auto* a, const auto* b) { return a->first != b->first ? a->first < b->first : a < b; });
  std::size_t bytes = 0;
  for (auto* buffer : waiting) {
    std::erase_if(placed, [&](const auto* other) { return other->last < buffer->first; });
    std::size_t place = 0;
    auto next = placed.begin();
    for (; next != placed.end() && (*next)->place < place + buffer->bytes; ++next)
      place = (*next)->place + (*next)->bytes;
    buffer->place = place;
    placed.insert(next, buffer);
    bytes = std::max(bytes, place + buffer->bytes);
  }
  return bytes;
}

}  // namespace inlay::runtime

// The joining pass: neighbours in the recorded list become one operation where nobody else reads what lay between them.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "runtime/step.hpp"

namespace inlay::runtime {

namespace {

using List = Records;

// Whether `test` holds for one of the tensors that an operation reads, nulls included.
template <class Test>
bool any_input(const Record& r, const Test& test) {
  const auto any = [&](std::initializer_list<const inlay_tensor*> read) { return std::ranges::any_of(read, test); };
  switch (r.op) {
    case INLAY_OP_NORM: return any({r.norm.x});
    case INLAY_OP_LINEAR: return any({r.linear.x, r.linear.add});
    case INLAY_OP_BINARY: return any({r.binary.a, r.binary.b});
    case INLAY_OP_GLU: return any({r.glu.gate, r.glu.up});
    case INLAY_OP_ROPE: return any({r.rope.x});
    case INLAY_OP_ATTENTION: return any({r.attention.q, r.attention.k, r.attention.v, r.attention.choice});
    case INLAY_OP_PICK: return any({r.pick.x});
    case INLAY_OP_ROUTE: return any({r.route.logits});
    case INLAY_OP_EXPERTS: return any({r.experts.x, r.experts.choice, r.experts.weight});
    case INLAY_OP_SCAN: return std::any_of(r.in, r.in + r.scan.n, test) || test(r.scan.x);
    case INLAY_OP_CHOOSE: return any({r.choose.q, r.choose.k, r.choose.weight});
    default: return false;
  }
}

bool same(const inlay_tensor* a, const inlay_tensor* b) {
  return a && b && a->data == b->data && a->rank == b->rank && std::equal(a->shape, a->shape + a->rank, b->shape);
}

std::pair<const std::byte*, const std::byte*> extent(const inlay_tensor& t) {
  const auto* begin = static_cast<const std::byte*>(t.data);
  std::int64_t bytes = t.stride[t.rank - 1];
  for (std::uint32_t i = 0; i < t.rank; ++i) bytes += (t.shape[i] - 1) * t.stride[i];
  return {begin, begin + bytes};
}

bool overlap(const inlay_tensor* a, const inlay_tensor* b) {
  if (!a || !b) return false;
  const auto [a_begin, a_end] = extent(*a);
  const auto [b_begin, b_end] = extent(*b);
  return a_begin < b_end && b_begin < a_end;
}

bool reads(const Record& r, const inlay_tensor* t) {
  return any_input(r, [&](const auto* input) { return overlap(input, t); });
}

// Scratch dies with its layer, so nobody reads `t` after the next mark.
bool read_after(const List& list, std::size_t i, const inlay_tensor* t) {
  for (; i < list.size() && list[i].op != INLAY_OP_COUNT; ++i)
    if (reads(list[i], t)) return true;
  return false;
}

bool is(const List& list, std::size_t i, std::uint32_t op) { return i < list.size() && list[i].op == op; }

bool plain_matrix(const Record& r) { return r.linear.n == 1 && r.w[0]->rank == 2 && r.linear.x->rank == 2; }

// Linears of the same input that follow each other become one.
void join_linears(List& list, std::size_t i) {
  auto& first = list[i];
  if (!plain_matrix(first)) return;
  while (first.linear.n < most_joined && is(list, i + 1, INLAY_OP_LINEAR) && plain_matrix(list[i + 1]) &&
         same(list[i + 1].linear.x, first.linear.x)) {
    const auto& next = list[i + 1];
    const auto n = first.linear.n++;
    first.y[n] = next.y[0], first.w[n] = next.w[0], first.bias[n] = next.bias[0], first.scale[n] = next.scale[0];
    list.erase(list.begin() + std::ptrdiff_t(i + 1));
  }
}

// act(gate) * up right after the linear that made both.
void join_glu(List& list, std::size_t i) {
  auto& linear = list[i];
  if (linear.linear.n != 2 || !is(list, i + 1, INLAY_OP_GLU)) return;
  const auto& glu = list[i + 1].glu;
  if (!glu.up || !same(glu.gate, linear.y[0]) || !same(glu.up, linear.y[1])) return;
  if (read_after(list, i + 2, linear.y[0]) || read_after(list, i + 2, linear.y[1])) return;
  linear.glu_after = glu;
  linear.y[0] = glu.y, linear.y[1] = nullptr;
  list.erase(list.begin() + std::ptrdiff_t(i + 1));
}

// y = a + linear(x) right after the linear.
void join_add(List& list, std::size_t i) {
  auto& linear = list[i];
  if (!plain_matrix(linear) || !is(list, i + 1, INLAY_OP_BINARY)) return;
  const auto& sum = list[i + 1].binary;
  if (sum.kind != INLAY_BINARY_ADD || sum.alpha != 1 || !sum.b || !same(sum.b, linear.y[0])) return;
  if (same(sum.a, linear.y[0]) || sum.a->rank != 2 || sum.a->shape[1] != sum.b->shape[1] ||
      sum.a->shape[0] != sum.b->shape[0])
    return;
  if (overlap(sum.y, linear.linear.x) || (!same(sum.y, linear.y[0]) && read_after(list, i + 2, linear.y[0]))) return;
  linear.linear.add = sum.a;
  linear.y[0] = sum.y;
  list.erase(list.begin() + std::ptrdiff_t(i + 1));
}

// A norm that only the linear right behind it reads.
void join_norm(List& list, std::size_t i) {
  if (!is(list, i + 1, INLAY_OP_LINEAR)) return;
  auto& linear = list[i + 1];
  const auto& norm = list[i].norm;
  if (norm.x->rank != 2 || norm.kind >= INLAY_NORM_L2 || !same(norm.y, linear.linear.x) || linear.linear.add) return;
  if (read_after(list, i + 2, norm.y)) return;
  linear.norm_before = norm;
  linear.linear.x = norm.x;
  list.erase(list.begin() + std::ptrdiff_t(i));
}

// Rotations of queries and keys right before the attention that reads them. Returns how many were erased.
std::size_t join_ropes(List& list, std::size_t i) {
  std::size_t erased = 0;
  while (i > erased && is(list, i - erased - 1, INLAY_OP_ROPE)) {
    auto& attention = list[i - erased];
    const auto rope = list[i - erased - 1].rope;
    const bool of_queries = same(rope.x, attention.attention.q);
    auto& kept = of_queries ? attention.rope_q : attention.rope_k;
    if ((!of_queries && !same(rope.x, attention.attention.k)) || kept.size) break;
    if (read_after(list, i - erased + 1, rope.x)) break;
    kept = rope;
    list.erase(list.begin() + std::ptrdiff_t(i - ++erased));
  }
  return erased;
}

// Nothing is joined across a layer's mark.
void join_layer(List& list) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].op == INLAY_OP_LINEAR) join_linears(list, i);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].op == INLAY_OP_LINEAR)
      join_glu(list, i), join_add(list, i);
    else if (list[i].op == INLAY_OP_ATTENTION)
      i -= join_ropes(list, i);
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].op == INLAY_OP_NORM) join_norm(list, i);
}

}  // namespace

// One layer at a time, for what is erased from a list moves all behind it.
void join(Records& list) {
  List layer(list.get_allocator()), joined(list.get_allocator());
  const auto is_mark = [](const Record& record) { return record.op == INLAY_OP_COUNT; };
  for (auto begin = list.begin(), end = begin; begin != list.end(); begin = end) {
    end = std::find_if(begin + 1, list.end(), is_mark);
    layer.assign(begin, end);
    join_layer(layer);
    joined.insert(joined.end(), layer.begin(), layer.end());
  }
  list = std::move(joined);
}

}  // namespace inlay::runtime

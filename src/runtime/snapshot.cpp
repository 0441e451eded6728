// Saving sequences and restoring them. The form is described in DESIGN.md: canonical rows, so that page size,
// instruction set and types of the cache may be others when it is read.
#include "runtime/snapshot.hpp"

#include <algorithm>
#include <cstring>

#include "base/checksum.hpp"
#include "gguf/dequantize.hpp"
#include "gguf/quantize.hpp"
#include "runtime/engine.hpp"
#include "runtime/rows.hpp"
#include "runtime/snapshot_format.hpp"
#include "runtime/stay.hpp"

namespace inlay::runtime {

namespace {

std::pmr::vector<TokenId> take_ids(std::size_t count, int vocabulary, std::pmr::memory_resource* memory,
                                   const std::function<const std::byte*(std::size_t)>& take) {
  std::pmr::vector<TokenId> ids(count, memory);
  const auto bytes = std::as_writable_bytes(std::span(ids));
  std::copy_n(take(bytes.size()), bytes.size(), bytes.begin());
  for (const auto id : ids)
    if (id < 0 || id >= vocabulary)
      refuse_snapshot(Fault::out_of_bounds, "has the token " + std::to_string(id) + ", which is not in the vocabulary",
                      "tokens");
  return ids;
}

}  // namespace

std::uint64_t fingerprint(const gguf::File& file, int context) {
  constexpr std::size_t sample = 256;
  base::Checksum sum;
  const auto add = [&](const auto& list) { sum.add(std::as_bytes(std::span(list))); };
  for (const auto& tensor : file.tensors()) {
    add(tensor.name), add(tensor.shape), add(std::span(&tensor.type, 1));
    const auto size = tensor.data.size(), part = std::min(size, sample);
    sum.add(tensor.data.first(part)), sum.add(tensor.data.subspan((size - part) / 2, part));
    sum.add(tensor.data.last(part));
    if (tensor.name != "rope_factors_long.weight") continue;
    // These take the place of the short ones where the context is long.
    const auto prefix = std::string(file.text("general.architecture")) + ".";
    const auto trained = file.integer(prefix + "context_length", context);
    const bool is_long = context > file.integer(prefix + "rope.scaling.original_context_length", trained);
    add(std::span(&is_long, 1));
  }
  return sum.value();
}

SnapshotHeader Engine::snapshot_header(const Sequence& sequence, std::uint64_t model) const {
  const auto keys_values = caches_->keys_values();
  const auto kept = std::find_if(keys_values.begin(), keys_values.end(), [](const auto& c) { return c.size > 0; });
  const bool rows = kept != keys_values.end();
  const auto source = source_tokens(sequence);
  SnapshotHeader header = {.magic = {},
                           .version = source.count > 0 ? last_version : first_version,
                           .header_bytes = 0,
                           .bytes = 0,
                           .model = model,
                           .tokens = std::uint32_t(sequence.tokens.size()),
                           .read = std::uint32_t(sequence.cached),
                           .k_type = rows ? kept->k_type : std::uint32_t(INLAY_F32),
                           .v_type = rows ? kept->v_type : std::uint32_t(INLAY_F32),
                           .source = std::uint32_t(source.count),
                           .unused = 0};
  std::memcpy(header.magic, snapshot_magic, sizeof(snapshot_magic));
  header.header_bytes = std::uint32_t(header.size());
  header.bytes = snapshot_bytes(*caches_, header).value();
  return header;
}

std::uint64_t Engine::saved_bytes(const Sequence& sequence) const { return snapshot_header(sequence, 0).bytes; }

void Engine::save(const Sequence& sequence, std::uint64_t model, const ByteSink& sink) const {
  const auto header = snapshot_header(sequence, model);
  Stay stay(*this);
  stay.add_locked(sequence);
  base::Checksum checksum;
  const ByteSink put = [&](std::span<const std::byte> bytes) { checksum.add(bytes), sink(bytes); };
  put(std::as_bytes(std::span(&header, 1)).first(header.size()));
  put(std::as_bytes(std::span(sequence.tokens)));
  if (sequence.source) put(std::as_bytes(std::span(sequence.source->tokens)));
  save_rows(own_tokens(sequence), put);
  save_rows(source_tokens(sequence), put);
  save_states(sequence, put);
  const auto sum = checksum.value();
  sink(std::as_bytes(std::span(&sum, 1)));
}

void Engine::save_rows(const KeptTokens& tokens, const ByteSink& put) const {
  const auto& table = device_->table();
  std::pmr::vector<float> k(memory()), v(memory());
  std::pmr::vector<std::byte> out(memory());
  each_run(caches_->keys_values(), tokens, [&](const inlay_cache& cache, std::size_t, const Slots& slots) {
    const SnapshotRow row(cache, cache.k_type, cache.v_type);
    k.resize(slots.size() * row.k_floats), v.resize(slots.size() * row.v_floats);
    table.read_rows(device_->handle(), &cache, slots.data(), int(slots.size()), k.data(),
                    row.v_floats ? v.data() : nullptr);
    out.resize(slots.size() * row.bytes());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto* to = out.data() + i * row.bytes();
      gguf::quantize(row.k_type, k.data() + i * row.k_floats, to, row.k_floats);
      if (row.v_floats) gguf::quantize(row.v_type, v.data() + i * row.v_floats, to + row.k_bytes, row.v_floats);
    }
    put(out);
  });
}

void Engine::save_states(const Sequence& sequence, const ByteSink& put) const {
  std::pmr::vector<float> k(memory());
  for (const auto& cache : caches_->states()) {
    if (!cache.size || sequence.cached == 0) continue;
    k.resize(std::size_t(cache.state_bytes) / sizeof(float));
    device_->table().read_rows(device_->handle(), &cache, &sequence.slot, 1, k.data(), nullptr);
    put(std::as_bytes(std::span(k)));
  }
}

Sequence Engine::restore(std::span<const std::byte> saved, std::uint64_t model) {
  const auto header = checked_header(saved, model, *caches_);
  if (const auto longest = std::max(header.tokens, header.source); longest > std::uint32_t(context_))
    throw Error(
        Errc::argument,
        "the saved session has " + std::to_string(longest) + " tokens; the context here is " + std::to_string(context_),
        Fault::limit, "tokens");
  saved = saved.subspan(header.size());
  const TakeBytes take = [&](std::size_t bytes) {
    const auto* part = saved.data();
    saved = saved.subspan(bytes);
    return part;
  };
  auto sequence = Sequence().in(memory());
  sequence.tokens = take_ids(header.tokens, vocabulary_, memory(), take);
  const auto source = take_ids(header.source, vocabulary_, memory(), take);
  sequence.cached = header.read;
  sequence.shareable = header.read == 0;
  try {
    take_memory(sequence);
    if (!source.empty()) sequence.source = new_source(source);
    Stay stay(*this);
    stay.add_locked(sequence);
    restore_rows(own_tokens(sequence), header.k_type, header.v_type, take);
    restore_rows(source_tokens(sequence), header.k_type, header.v_type, take);
    restore_states(sequence, take);
  } catch (...) {
    release(sequence);
    throw;
  }
  return sequence;
}

void Engine::restore_rows(const KeptTokens& tokens, std::uint32_t k_type, std::uint32_t v_type, const TakeBytes& take) {
  const auto& table = device_->table();
  std::pmr::vector<float> k(memory()), v(memory());
  each_run(caches_->keys_values(), tokens, [&](const inlay_cache& cache, std::size_t, const Slots& slots) {
    const SnapshotRow row(cache, k_type, v_type);
    k.resize(slots.size() * row.k_floats), v.resize(slots.size() * row.v_floats);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      gguf::dequantize(row.k_type, take(row.k_bytes), k.data() + i * row.k_floats, row.k_floats);
      if (row.v_floats) gguf::dequantize(row.v_type, take(row.v_bytes), v.data() + i * row.v_floats, row.v_floats);
    }
    table.write_rows(device_->handle(), &cache, slots.data(), int(slots.size()), k.data(),
                     row.v_floats ? v.data() : nullptr);
  });
}

void Engine::restore_states(const Sequence& sequence, const TakeBytes& take) {
  std::pmr::vector<float> k(memory());
  for (const auto& cache : caches_->states()) {
    if (!cache.size || sequence.cached == 0) continue;
    k.resize(std::size_t(cache.state_bytes) / sizeof(float));
    std::memcpy(k.data(), take(k.size() * sizeof(float)), k.size() * sizeof(float));
    device_->table().write_rows(device_->handle(), &cache, &sequence.slot, 1, k.data(), nullptr);
  }
}

}  // namespace inlay::runtime

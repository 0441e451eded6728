// Saving sequences and restoring them. The form is described in DESIGN.md: canonical rows, so that page size,
// instruction set and types of the cache may be others when it is read.
#include "runtime/snapshot.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/checksum.hpp"
#include "gguf/dequantize.hpp"
#include "gguf/quantize.hpp"
#include "gguf/types.hpp"
#include "runtime/engine.hpp"
#include "runtime/rows.hpp"
#include "runtime/stay.hpp"

namespace inlay::runtime {

namespace {

constexpr char magic[8] = {'I', 'N', 'L', 'A', 'Y', 'S', 'E', 'S'};
constexpr std::uint32_t version = 1;

struct Header {
  char magic[8];
  std::uint32_t version, header_bytes;
  std::uint64_t bytes;  // of the whole, with the checksum at its end
  std::uint64_t model;
  std::uint32_t tokens, read;
  std::uint32_t k_type, v_type;
};
static_assert(sizeof(Header) == 48);

[[noreturn]] void refuse(Fault fault, const std::string& why, const char* where) {
  throw Error(Errc::format, "the saved session " + why, fault, where);
}

// The numbers of one token in one layer.
struct Row {
  gguf::Type k_type, v_type;
  std::size_t k_floats, v_floats, k_bytes, v_bytes;

  Row(const inlay_cache& cache, std::uint32_t k, std::uint32_t v)
      : k_type(gguf::Type(k)), v_type(gguf::Type(v)), k_floats(std::size_t(cache.heads) * std::size_t(cache.k_dim)) {
    v_floats = cache.kind == INLAY_CACHE_LATENT ? 0 : std::size_t(cache.heads) * std::size_t(cache.v_dim);
    k_bytes = gguf::bytes_of(k_type, k_floats);
    v_bytes = v_floats ? gguf::bytes_of(v_type, v_floats) : 0;
  }
  std::size_t bytes() const noexcept { return k_bytes + v_bytes; }
};

bool is_cache_type(std::uint32_t type) {
  return type == INLAY_F32 || type == INLAY_F16 || type == INLAY_BF16 || type == INLAY_Q8_0 || type == INLAY_Q4_0;
}

// Bytes of a saved sequence; none where they would not fit into a number.
std::optional<std::uint64_t> total_bytes(const Caches& caches, const Header& header) {
  std::uint64_t per_token = 0, states = 0;
  for (const auto& cache : caches.keys_values())
    if (cache.size) per_token += Row(cache, header.k_type, header.v_type).bytes();
  for (const auto& cache : caches.states()) states += cache.size && header.read ? std::uint64_t(cache.state_bytes) : 0;
  const auto ids = std::uint64_t(header.tokens) * sizeof(TokenId) + sizeof(Header) + sizeof(std::uint64_t) + states;
  const auto rows = base::checked_multiply(per_token, header.read);
  return rows ? base::checked_add(ids, *rows) : std::nullopt;
}

// Whether quantized rows of these types are whole blocks.
bool fits(const Caches& caches, const Header& header) {
  if (!is_cache_type(header.k_type) || !is_cache_type(header.v_type)) return false;
  const auto whole = [](std::uint32_t type, std::int32_t dims) {
    return (type != INLAY_Q8_0 && type != INLAY_Q4_0) || dims % 32 == 0;
  };
  for (const auto& cache : caches.keys_values())
    if (cache.size &&
        !(whole(header.k_type, cache.k_dim) && (cache.kind == INLAY_CACHE_LATENT || whole(header.v_type, cache.v_dim))))
      return false;
  return true;
}

Header checked_header(std::span<const std::byte> saved, std::uint64_t model, const Caches& caches) {
  Header header = {};
  std::uint64_t sum = 0;
  if (saved.size() >= sizeof(magic)) std::memcpy(&header, saved.data(), std::min(saved.size(), sizeof(header)));
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0)
    refuse(Fault::bad_magic, "does not begin with INLAYSES: it is something else", "magic");
  if (saved.size() < sizeof(header) + sizeof(sum)) refuse(Fault::truncated, "ends within its header", "header");
  if (header.version != version || header.header_bytes != sizeof(header))
    refuse(
        Fault::bad_version,
        "is of version " + std::to_string(header.version) + "; this library reads version " + std::to_string(version),
        "version");
  if (header.bytes != saved.size())
    refuse(header.bytes > saved.size() ? Fault::truncated : Fault::bad_count,
           "has " + std::to_string(saved.size()) + " bytes instead of " + std::to_string(header.bytes), "bytes");
  base::Checksum checksum;
  checksum.add(saved.first(saved.size() - sizeof(sum)));
  std::memcpy(&sum, saved.data() + saved.size() - sizeof(sum), sizeof(sum));
  if (checksum.value() != sum) refuse(Fault::inconsistent, "is damaged: its checksum differs", "checksum");
  if (header.model != model) refuse(Fault::inconsistent, "is of a different model", "model");
  if (!fits(caches, header)) refuse(Fault::bad_type, "keeps keys or values in a type that is unknown here", "type");
  if (header.read > header.tokens || total_bytes(caches, header) != header.bytes)
    refuse(Fault::inconsistent, "announces other bytes than it has", "bytes");
  return header;
}

// Saved sessions have no place for a source yet.
void refuse_sources(const Engine& engine) {
  if (engine.reads_source())
    throw Error(Errc::unsupported, "sessions of encoder-decoders cannot be saved: their tokens depend on the source",
                Fault::unsupported, "save");
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

void Engine::save(const Sequence& sequence, std::uint64_t model, const ByteSink& sink) const {
  refuse_sources(*this);
  const auto keys_values = caches_->keys_values();
  const auto kept = std::find_if(keys_values.begin(), keys_values.end(), [](const auto& c) { return c.size > 0; });
  const bool rows = kept != keys_values.end();
  Header header = {.magic = {},
                   .version = version,
                   .header_bytes = sizeof(Header),
                   .bytes = 0,
                   .model = model,
                   .tokens = std::uint32_t(sequence.tokens.size()),
                   .read = std::uint32_t(sequence.cached),
                   .k_type = rows ? kept->k_type : std::uint32_t(INLAY_F32),
                   .v_type = rows ? kept->v_type : std::uint32_t(INLAY_F32)};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.bytes = total_bytes(*caches_, header).value();
  Stay stay(*this);
  stay.add_locked(sequence);
  base::Checksum checksum;
  const ByteSink put = [&](std::span<const std::byte> bytes) { checksum.add(bytes), sink(bytes); };
  put(std::as_bytes(std::span(&header, 1)));
  put(std::as_bytes(std::span(sequence.tokens)));
  save_rows(sequence, put);
  const auto sum = checksum.value();
  sink(std::as_bytes(std::span(&sum, 1)));
}

void Engine::save_rows(const Sequence& sequence, const ByteSink& put) const {
  const auto& table = device_->table();
  std::vector<float> k, v;
  std::vector<std::byte> out;
  each_run(caches_->keys_values(), sequence, [&](const inlay_cache& cache, std::size_t, const Slots& slots) {
    const Row row(cache, cache.k_type, cache.v_type);
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
  for (const auto& cache : caches_->states()) {
    if (!cache.size || sequence.cached == 0) continue;
    k.resize(std::size_t(cache.state_bytes) / sizeof(float));
    table.read_rows(device_->handle(), &cache, &sequence.slot, 1, k.data(), nullptr);
    put(std::as_bytes(std::span(k)));
  }
}

Sequence Engine::restore(std::span<const std::byte> saved, std::uint64_t model) {
  refuse_sources(*this);
  const auto header = checked_header(saved, model, *caches_);
  if (header.tokens > std::uint32_t(context_))
    throw Error(Errc::argument,
                "the saved session has " + std::to_string(header.tokens) + " tokens; the context here is " +
                    std::to_string(context_),
                Fault::limit, "tokens");
  Sequence sequence;
  sequence.tokens.resize(header.tokens);
  saved = saved.subspan(sizeof(header));
  const auto ids = std::as_writable_bytes(std::span(sequence.tokens));
  std::copy_n(saved.begin(), ids.size(), ids.begin());
  for (const auto id : sequence.tokens)
    if (id < 0 || id >= vocabulary_)
      refuse(Fault::out_of_bounds, "has the token " + std::to_string(id) + ", which is not in the vocabulary",
             "tokens");
  sequence.cached = header.read;
  sequence.shareable = header.read == 0;
  try {
    take_memory(sequence);
    Stay stay(*this);
    stay.add_locked(sequence);
    restore_rows(sequence, saved.subspan(ids.size()), header.k_type, header.v_type);
  } catch (...) {
    release(sequence);
    throw;
  }
  return sequence;
}

void Engine::restore_rows(Sequence& sequence, std::span<const std::byte> saved, std::uint32_t k_type,
                          std::uint32_t v_type) {
  const auto& table = device_->table();
  const auto take = [&](std::size_t bytes) {
    const auto* part = saved.data();
    saved = saved.subspan(bytes);
    return part;
  };
  std::vector<float> k, v;
  each_run(caches_->keys_values(), sequence, [&](const inlay_cache& cache, std::size_t, const Slots& slots) {
    const Row row(cache, k_type, v_type);
    k.resize(slots.size() * row.k_floats), v.resize(slots.size() * row.v_floats);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      gguf::dequantize(row.k_type, take(row.k_bytes), k.data() + i * row.k_floats, row.k_floats);
      if (row.v_floats) gguf::dequantize(row.v_type, take(row.v_bytes), v.data() + i * row.v_floats, row.v_floats);
    }
    table.write_rows(device_->handle(), &cache, slots.data(), int(slots.size()), k.data(),
                     row.v_floats ? v.data() : nullptr);
  });
  for (const auto& cache : caches_->states()) {
    if (!cache.size || sequence.cached == 0) continue;
    k.resize(std::size_t(cache.state_bytes) / sizeof(float));
    std::memcpy(k.data(), take(k.size() * sizeof(float)), k.size() * sizeof(float));
    table.write_rows(device_->handle(), &cache, &sequence.slot, 1, k.data(), nullptr);
  }
}

}  // namespace inlay::runtime

// Headers of saved sessions, checked before anything is done for them.
#include "runtime/snapshot_format.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/checksum.hpp"
#include "inlay/error.hpp"

namespace inlay::runtime {

namespace {

bool is_cache_type(std::uint32_t type) {
  return type == INLAY_F32 || type == INLAY_F16 || type == INLAY_BF16 || type == INLAY_Q8_0 || type == INLAY_Q4_0;
}

// Whether quantized rows of these types are whole blocks.
bool fits(const Caches& caches, const SnapshotHeader& header) {
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

}  // namespace

void refuse_snapshot(Fault fault, const std::string& why, const char* where) {
  throw Error(Errc::format, "the saved session " + why, fault, where);
}

std::optional<std::uint64_t> snapshot_bytes(const Caches& caches, const SnapshotHeader& header) {
  std::uint64_t per_token[2] = {}, states = 0;
  for (const auto& cache : caches.keys_values())
    if (cache.size) per_token[cache.table] += SnapshotRow(cache, header.k_type, header.v_type).bytes();
  for (const auto& cache : caches.states()) states += cache.size && header.read ? std::uint64_t(cache.state_bytes) : 0;
  const auto ids = (std::uint64_t(header.tokens) + header.source) * sizeof(std::int32_t);
  const auto rows = base::checked_multiply(per_token[own_table], header.read);
  const auto of_source = base::checked_multiply(per_token[source_table], header.source);
  if (!rows || !of_source) return std::nullopt;
  const auto all_rows = base::checked_add(*rows, *of_source);
  return all_rows ? base::checked_add(ids + header.size() + sizeof(std::uint64_t) + states, *all_rows) : std::nullopt;
}

SnapshotHeader checked_header(std::span<const std::byte> saved, std::uint64_t model, const Caches& caches) {
  SnapshotHeader header = {};
  std::uint64_t sum = 0;
  if (saved.size() >= sizeof(snapshot_magic))
    std::memcpy(&header, saved.data(), std::min(saved.size(), sizeof(header)));
  if (std::memcmp(header.magic, snapshot_magic, sizeof(snapshot_magic)) != 0)
    refuse_snapshot(Fault::bad_magic, "does not begin with INLAYSES: it is something else", "magic");
  if (saved.size() < offsetof(SnapshotHeader, source) + sizeof(sum))
    refuse_snapshot(Fault::truncated, "ends within its header", "header");
  if (header.version < first_version || header.version > last_version || header.header_bytes != header.size())
    refuse_snapshot(Fault::bad_version,
                    "is of version " + std::to_string(header.version) + "; this library reads versions up to " +
                        std::to_string(last_version),
                    "version");
  if (saved.size() < header.size() + sizeof(sum)) refuse_snapshot(Fault::truncated, "ends within its header", "header");
  if (header.version == first_version) header.source = header.unused = 0;
  if (header.bytes != saved.size())
    refuse_snapshot(header.bytes > saved.size() ? Fault::truncated : Fault::bad_count,
                    "has " + std::to_string(saved.size()) + " bytes instead of " + std::to_string(header.bytes),
                    "bytes");
  base::Checksum checksum;
  checksum.add(saved.first(saved.size() - sizeof(sum)));
  std::memcpy(&sum, saved.data() + saved.size() - sizeof(sum), sizeof(sum));
  if (checksum.value() != sum) refuse_snapshot(Fault::inconsistent, "is damaged: its checksum differs", "checksum");
  if (header.model != model) refuse_snapshot(Fault::inconsistent, "is of a different model", "model");
  if (!fits(caches, header))
    refuse_snapshot(Fault::bad_type, "keeps keys or values in a type that is unknown here", "type");
  const bool source = header.source > 0;
  if (header.unused != 0 || source != (header.version > first_version) || source > caches.has_sources() ||
      (header.read > 0 && source != caches.has_sources()))
    refuse_snapshot(Fault::inconsistent, "has not the source that its model needs", "source");
  if (header.read > header.tokens || snapshot_bytes(caches, header) != header.bytes)
    refuse_snapshot(Fault::inconsistent, "announces other bytes than it has", "bytes");
  return header;
}

}  // namespace inlay::runtime

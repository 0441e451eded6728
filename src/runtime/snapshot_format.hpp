// The form of saved sessions: what stands where, and what of it has to be right. DESIGN.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gguf/types.hpp"
#include "runtime/caches.hpp"

namespace inlay::runtime {

inline constexpr char snapshot_magic[8] = {'I', 'N', 'L', 'A', 'Y', 'S', 'E', 'S'};
// The second one has a source.
inline constexpr std::uint32_t first_version = 1, last_version = 2;

struct SnapshotHeader {
  char magic[8];
  std::uint32_t version, header_bytes;
  std::uint64_t bytes;  // of the whole, with the checksum at its end
  std::uint64_t model;
  std::uint32_t tokens, read;
  std::uint32_t k_type, v_type;
  std::uint32_t source, unused;  // tokens of it; since version 2

  std::size_t size() const noexcept {
    return version == first_version ? offsetof(SnapshotHeader, source) : sizeof(SnapshotHeader);
  }
};
static_assert(offsetof(SnapshotHeader, source) == 48 && sizeof(SnapshotHeader) == 56);

// The numbers of one token in one layer.
struct SnapshotRow {
  gguf::Type k_type, v_type;
  std::size_t k_floats, v_floats, k_bytes, v_bytes;

  SnapshotRow(const inlay_cache& cache, std::uint32_t k, std::uint32_t v)
      : k_type(gguf::Type(k)), v_type(gguf::Type(v)), k_floats(std::size_t(cache.heads) * std::size_t(cache.k_dim)) {
    v_floats = cache.kind == INLAY_CACHE_LATENT ? 0 : std::size_t(cache.heads) * std::size_t(cache.v_dim);
    k_bytes = gguf::bytes_of(k_type, k_floats);
    v_bytes = v_floats ? gguf::bytes_of(v_type, v_floats) : 0;
  }
  std::size_t bytes() const noexcept { return k_bytes + v_bytes; }
};

[[noreturn]] void refuse_snapshot(Fault fault, const std::string& why, const char* where);  // throws Error{format}

// Bytes of a saved sequence; none where they would not fit into a number.
std::optional<std::uint64_t> snapshot_bytes(const Caches& caches, const SnapshotHeader& header);

// The header of a saved sequence that is whole, of this model, and announces what it has. Throws Error{format}.
SnapshotHeader checked_header(std::span<const std::byte> saved, std::uint64_t model, const Caches& caches);

}  // namespace inlay::runtime

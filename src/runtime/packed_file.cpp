// Reads and writes files of packed weights. Numbers are those of this machine: a file of another is of another origin.
#include "runtime/packed_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/checksum.hpp"
#include "base/replacement.hpp"
#include "base/system_file.hpp"
#include "runtime/snapshot.hpp"

namespace inlay::runtime {

namespace {

constexpr char magic[8] = {'I', 'N', 'L', 'A', 'Y', 'P', 'A', 'K'};
constexpr std::uint64_t line = 64;  // parts begin on one, and one is behind the last: kernels read whole vectors
constexpr std::size_t sampled = 64;

struct Header {
  char magic[8];
  std::uint32_t version, parts;
  std::uint64_t bytes, origin;  // bytes: of the whole file
};
struct Entry {
  std::uint64_t tensor, offset, bytes, sample;
};
using Sum = std::uint64_t;  // of header and entries, behind them

constexpr std::uint32_t version = 1;

constexpr std::uint64_t rounded_up(std::uint64_t bytes) noexcept { return (bytes + line - 1) / line * line; }
constexpr std::uint64_t head_bytes(std::uint64_t parts) noexcept {
  return rounded_up(sizeof(Header) + parts * sizeof(Entry) + sizeof(Sum));
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}

std::uint64_t sample_of(std::span<const std::byte> bytes) noexcept {
  const auto part = std::min(bytes.size(), sampled);
  base::Checksum sum;
  sum.add(bytes.first(part)), sum.add(bytes.subspan((bytes.size() - part) / 2, part)), sum.add(bytes.last(part));
  return sum.value();
}

// The parts that a file of that origin has; none where anything in it is wrong.
PackedFile::Parts parts_of(std::span<const std::byte> file, std::uint64_t origin, std::pmr::memory_resource* memory) {
  Header header;
  if (file.size() < sizeof(header) + sizeof(Sum)) return {};
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0 || header.version != version || header.origin != origin ||
      header.bytes != file.size() || header.parts > (file.size() - sizeof(header) - sizeof(Sum)) / sizeof(Entry))
    return {};
  const std::size_t head = sizeof(header) + header.parts * sizeof(Entry);
  base::Checksum sum;
  sum.add(file.first(head));
  Sum expected;
  std::memcpy(&expected, file.data() + head, sizeof(expected));
  if (sum.value() != expected) return {};
  PackedFile::Parts parts(memory);
  for (std::size_t i = 0; i < header.parts; ++i) {
    Entry entry;
    std::memcpy(&entry, file.data() + sizeof(header) + i * sizeof(Entry), sizeof(entry));
    const bool inside = entry.offset % line == 0 && entry.offset >= head_bytes(header.parts) &&
                        entry.offset <= file.size() && entry.bytes + line > line &&
                        entry.bytes + line <= file.size() - entry.offset;
    if (!inside || (i > 0 && parts.back().tensor >= entry.tensor)) return {};
    parts.push_back({entry.tensor, file.subspan(entry.offset, entry.bytes)});
    if (sample_of(parts.back().bytes) != entry.sample) return {};
  }
  return parts;
}

}  // namespace

std::uint64_t PackedFile::origin_of(const std::string& model, const gguf::File& file, const std::string& layout) {
  std::error_code gone;
  const auto changed = std::filesystem::last_write_time(base::path_of(model), gone).time_since_epoch().count();
  const std::uint64_t facts[] = {fingerprint(file, 0), file.bytes(), static_cast<std::uint64_t>(changed)};
  base::Checksum sum;
  sum.add(std::as_bytes(std::span(facts))), sum.add(std::as_bytes(std::span(layout)));
  return sum.value();
}

std::uint64_t PackedFile::part_key(const gguf::Tensor& tensor, std::uint32_t role) noexcept {
  const std::uint32_t facts[] = {tensor.type, role};
  base::Checksum sum;
  sum.add(std::as_bytes(std::span(facts))), sum.add(std::as_bytes(tensor.shape));
  sum.add(std::as_bytes(std::span(tensor.name)));
  return sum.value();
}

base::Owned<PackedFile> PackedFile::open(const std::string& path, std::uint64_t origin,
                                         std::pmr::memory_resource* memory) {
  try {
    auto file = base::Mapping::open(path, base::Mapping::Way::map);
    auto parts = parts_of(file.content(), origin, memory);
    if (parts.empty()) return {};
    return base::make<PackedFile>(memory, std::move(file), std::move(parts));
  } catch (const std::system_error&) {
    return {};
  }
}

void PackedFile::write(const std::string& path, std::uint64_t origin, Parts parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.tensor < b.tensor; });
  std::pmr::vector<Entry> entries(parts.get_allocator());
  std::uint64_t offset = head_bytes(parts.size());
  for (const Part& part : parts) {
    entries.push_back({part.tensor, offset, part.bytes.size(), sample_of(part.bytes)});
    offset += rounded_up(part.bytes.size());
  }
  Header header = {{}, version, std::uint32_t(parts.size()), offset + line, origin};
  std::memcpy(header.magic, magic, sizeof(magic));
  base::Checksum sum;
  sum.add(bytes_of(header)), sum.add(std::as_bytes(std::span(entries)));
  static constexpr std::byte zeros[2 * line] = {};
  const auto pad = [](std::uint64_t bytes) { return std::span(zeros).first(rounded_up(bytes) - bytes); };
  base::Replacement file(path);
  file.write(bytes_of(header)), file.write(std::as_bytes(std::span(entries)));
  file.write(bytes_of(Sum(sum.value())));
  file.write(pad(sizeof(header) + entries.size() * sizeof(Entry) + sizeof(Sum)));
  for (const Part& part : parts) file.write(part.bytes), file.write(pad(part.bytes.size()));
  file.write(std::span(zeros).first(line));
  file.commit();
}

std::span<const std::byte> PackedFile::find(std::uint64_t tensor) const noexcept {
  const auto at = std::lower_bound(parts_.begin(), parts_.end(), tensor,
                                   [](const Part& part, std::uint64_t key) { return part.tensor < key; });
  return at != parts_.end() && at->tensor == tensor ? at->bytes : std::span<const std::byte>();
}

}  // namespace inlay::runtime

// Blocks to a file and back.
#include "runtime/tier.hpp"

#include <algorithm>
#include <system_error>

#include "base/checksum.hpp"
#include "inlay/error.hpp"

namespace inlay::runtime {

namespace {

std::uint64_t checksum_of(std::span<const std::byte> block) noexcept {
  base::Checksum sum;
  sum.add(block);
  return sum.value();
}

base::ScratchFile open(const std::string& folder) try {
  return base::ScratchFile(folder);
} catch (const std::system_error& error) {
  throw Error(Errc::io, "cannot write to the folder " + folder + ": " + error.code().message(), Fault::none,
              "disk_folder");
}

}  // namespace

Tier::Tier(const std::string& folder, std::size_t block_bytes, std::uint64_t most_bytes,
           std::pmr::memory_resource* memory)
    : file_(open(folder)),
      block_bytes_(block_bytes),
      capacity_(std::size_t(std::min<std::uint64_t>(most_bytes / block_bytes, INT32_MAX))),
      checksums_(memory),
      free_(memory) {}

std::optional<std::int32_t> Tier::put(std::span<const std::byte> block) noexcept try {
  if (free_.empty()) {
    if (checksums_.size() == capacity_) return std::nullopt;
    if (free_.capacity() <= checksums_.size()) free_.reserve(2 * checksums_.size() + 1);
    checksums_.push_back(0);
    free_.push_back(std::int32_t(checksums_.size() - 1));
  }
  const auto place = free_.back();
  file_.write(offset_of(place), block);
  checksums_[std::size_t(place)] = checksum_of(block);
  free_.pop_back();
  return place;
} catch (const std::exception&) {  // no room on the disk is no room in the budget
  return std::nullopt;
}

void Tier::read(std::int32_t place, std::span<std::byte> block) const {
  try {
    file_.read(offset_of(place), block);
  } catch (const std::system_error& error) {
    throw Error(Errc::io, "cannot read back what was kept on disk: " + error.code().message());
  }
  if (checksum_of(block) != checksums_[std::size_t(place)])
    throw Error(Errc::io, "what was kept on disk has changed there", Fault::inconsistent);
}

}  // namespace inlay::runtime

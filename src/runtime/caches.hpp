// What the layers of a model keep, laid out in pages and state slots of two pools. A page holds either tokens of a
// sequence or tokens of an encoder-decoder's source, which has a page table of its own.
#pragma once

#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inlay/nn/tensor.hpp"
#include "runtime/pool.hpp"

namespace inlay::runtime {

enum PageTable : std::int32_t { own_table, source_table };  // of a step

struct CacheOptions {
  std::optional<std::uint32_t> k_type = {}, v_type = {};  // none: as the device likes it
  int page = 32;
  std::size_t most_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of pages and states that were not used for long
  std::string disk_folder = {};
  int range = 0;  // tokens for which each sequence has a range of addresses to itself; 0: pages lie where there is room
};

class Caches {
 public:
  Caches(const Device& device, std::span<const nn::Cache> layers, const CacheOptions& options);

  // One descriptor a layer, at addresses that stay; a layer that keeps nothing of the kind has size 0.
  std::span<const inlay_cache> keys_values() const noexcept { return keys_values_; }
  std::span<const inlay_cache> states() const noexcept { return states_; }

  bool tiered() const noexcept { return tiered_; }

  bool shares_pages() const noexcept { return !has_pages() || pages_->shares(); }
  int page() const noexcept { return page_; }
  bool has_pages() const noexcept { return page_bytes_ > 0; }
  bool has_sources() const noexcept { return has_sources_; }
  bool has_states() const noexcept { return state_bytes_ > 0; }
  std::size_t page_bytes() const noexcept { return page_bytes_; }
  std::size_t state_bytes() const noexcept { return state_bytes_; }
  Pool& pages() noexcept { return *pages_; }
  Pool& slots() noexcept { return *slots_; }

 private:
  base::Owned<Pool> make_pool(const Device& device, std::size_t block_bytes, const CacheOptions& options) const;
  base::Owned<Pool> make_ranges(const Device& device, const CacheOptions& options) const;
  void add_pages(const Device& device, const nn::Cache& layer, const CacheOptions& options, std::size_t& used);
  void add_state(const nn::Cache& layer);

  int page_;
  std::size_t page_bytes_ = 0, state_bytes_ = 0;
  bool has_sources_ = false, tiered_ = false;
  std::pmr::vector<inlay_cache> keys_values_, states_;
  base::Owned<Pool> pages_, slots_;
};

}  // namespace inlay::runtime

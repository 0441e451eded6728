// Offsets of every layer's keys, values and state inside a page or slot.
#include "runtime/caches.hpp"

#include <algorithm>

#include "runtime/pages.hpp"
#include "runtime/ranges.hpp"

namespace inlay::runtime {

namespace {

constexpr std::size_t line = 64;
std::size_t aligned(std::size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

Caches::Caches(const Device& device, std::span<const nn::Cache> layers, const CacheOptions& options)
    : page_(options.page), keys_values_(device.memory()), states_(device.memory()) {
  keys_values_.reserve(layers.size()), states_.reserve(layers.size());
  std::size_t of_source = 0;
  for (const auto& layer : layers)
    add_pages(device, layer, options, layer.of_source ? of_source : page_bytes_), add_state(layer);
  has_sources_ = of_source > 0;
  page_bytes_ = std::max(page_bytes_, of_source);
  auto each = options;
  if (has_pages() && has_states()) each.most_bytes /= 2, each.disk_bytes /= 2;
  tiered_ = options.disk_bytes > 0;
  if (has_pages()) {
    pages_ = each.range > 0 ? make_ranges(device, each) : make_pool(device, page_bytes_, each);
    page_bytes_ = pages_->block_bytes();
  }
  if (has_states()) slots_ = make_pool(device, state_bytes_, each);
  for (auto& cache : keys_values_)
    if (cache.size)
      cache.segments = pages_->segments(), cache.segment_pages = pages_->segment_blocks(),
      cache.page_stride = std::int64_t(page_bytes_);
  for (auto& cache : states_)
    if (cache.size)
      cache.segments = slots_->segments(), cache.segment_pages = slots_->segment_blocks(),
      cache.page_stride = std::int64_t(state_bytes_);
}

base::Owned<Pool> Caches::make_pool(const Device& device, std::size_t block_bytes, const CacheOptions& options) const {
  const auto memory = device.memory();
  base::Owned<Tier> tier;
  if (options.disk_bytes > 0)
    tier = base::make<Tier>(memory, options.disk_folder, block_bytes, options.disk_bytes, memory);
  return base::make<BlockPool>(memory, device, block_bytes, options.most_bytes, std::move(tier));
}

base::Owned<Pool> Caches::make_ranges(const Device& device, const CacheOptions& options) const {
  const auto blocks = (options.range + page_ - 1) / page_;
  const auto most = std::max(1, INT32_MAX / (blocks * page_));  // slots of tokens have to be numbers of 32 bits
  return base::make<RangePool>(device.memory(), device, page_bytes_, options.most_bytes, blocks, std::size_t(most));
}

void Caches::add_pages(const Device& device, const nn::Cache& layer, const CacheOptions& options, std::size_t& used) {
  inlay_cache cache = {};
  if (layer.kv_heads) {
    cache.size = sizeof(cache);
    cache.kind = layer.latent ? INLAY_CACHE_LATENT : INLAY_CACHE_KV;
    cache.k_type = options.k_type.value_or(device.cache_type());
    cache.v_type = options.v_type.value_or(device.cache_type());
    cache.heads = layer.kv_heads, cache.k_dim = layer.head_dim, cache.v_dim = layer.value_dim;
    cache.page_size = page_;
    cache.table = layer.of_source ? source_table : own_table;
    cache.k_offset = std::int64_t(used);
    used += aligned(device.table().cache_bytes(device.handle(), &cache, 0));
    cache.v_offset = std::int64_t(used);
    if (!layer.latent) used += aligned(device.table().cache_bytes(device.handle(), &cache, 1));
  }
  keys_values_.push_back(cache);
}

void Caches::add_state(const nn::Cache& layer) {
  inlay_cache cache = {};
  if (layer.state_bytes) {
    cache.size = sizeof(cache), cache.kind = INLAY_CACHE_STATE;
    cache.state_bytes = layer.state_bytes, cache.k_offset = std::int64_t(state_bytes_);
    state_bytes_ += aligned(std::size_t(layer.state_bytes));
  }
  states_.push_back(cache);
}

}  // namespace inlay::runtime

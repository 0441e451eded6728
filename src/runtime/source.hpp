// What the decoders of an encoder-decoder look at: a source's tokens, and the pages that hold what was made of them.
#pragma once

#include <memory_resource>
#include <mutex>
#include <span>
#include <vector>

#include "inlay/nn/architecture.hpp"
#include "runtime/pool.hpp"

namespace inlay::runtime {

// Shared by a session and its forks; never written once it is read.
struct Source {
  Source(std::span<const std::int32_t> ids, std::pmr::memory_resource* resource, Pool& pool, std::mutex& memory)
      : tokens(ids.begin(), ids.end(), resource), pages(resource), pool_(pool), memory_(memory) {}
  ~Source() {
    std::lock_guard guard(memory_);
    for (const auto page : pages) pool_.release(page);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::pmr::vector<std::int32_t> tokens, pages;

 private:
  Pool& pool_;
  std::mutex& memory_;
};

// The first of an encoder-decoder's two passes, as a network by itself.
struct SourcePass final : nn::Network {
  explicit SourcePass(const nn::Network& both) : whole(both) {}
  nn::Tensor forward(nn::Step& step) const override { return whole.read_source(step); }
  std::vector<nn::Cache> caches() const override { return {}; }
  bool encodes() const override { return true; }
  const nn::Network& whole;
};

}  // namespace inlay::runtime

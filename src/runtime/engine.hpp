// A network on a device with the memory its sequences share: reads tokens of any sequences in one forward pass.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "inlay/gguf.hpp"
#include "inlay/nn/decoder.hpp"
#include "runtime/caches.hpp"
#include "runtime/fair_lock.hpp"
#include "runtime/step.hpp"

namespace inlay::runtime {

using TokenId = std::int32_t;

// The tokens of one session, and the pages and state that hold what the network keeps of the first `cached` of them.
struct Sequence {
  std::vector<TokenId> tokens;
  std::size_t cached = 0;
  std::vector<std::int32_t> pages;
  std::int32_t slot = -1;
};

// Tokens [sequence.cached, sequence.cached + count) to read in a step.
struct Reading {
  Sequence* sequence;
  int count;
  std::vector<int> wanted;  // rows whose logits are asked for, counted from the first of these tokens, ascending
};

struct EngineOptions {
  CacheOptions cache;
  int context = 0;  // 0: the file's
  bool measure = false;
  const nn::Architecture* architecture = nullptr;
  int vocabulary = 0;
  std::function<bool(float)> progress = {};
};

class Engine {
 public:
  // Loads the weights. Throws Error naming key, tensor, operation.
  Engine(const gguf::File& file, std::unique_ptr<Device> device, const EngineOptions& options);
  ~Engine();

  // One forward pass. Fills `logits` with [rows wanted, width], in the order of the readings. On an error no sequence
  // has changed. From any thread; passes take their turns.
  void read(std::span<const Reading> readings, std::vector<float>& logits, const std::function<bool()>& stop = {});

  // What an encoder makes of the tokens: [tokens, width].
  std::vector<float> encode(std::span<const TokenId> tokens);
  bool encodes() const noexcept { return network_->encodes(); }

  Sequence fork(const Sequence& from);
  // Forgets all but the first `length` tokens. A recurrent state cannot go back, so what it lost is read again later.
  void rewind(Sequence& sequence, std::size_t length) noexcept;
  // Keeps the tokens, but reads those from `first` on again with the next step.
  void read_again(Sequence& sequence, std::size_t first) noexcept;
  void release(Sequence& sequence) noexcept { rewind(sequence, 0); }
  void trim() noexcept;

  struct Room {
    std::size_t pages = SIZE_MAX, slots = SIZE_MAX;
  };
  Room room() noexcept;  // pages and state slots that sequences may still take

  int context() const noexcept { return context_; }
  int vocabulary() const noexcept { return vocabulary_; }
  int chunk() const noexcept { return chunk_tokens; }
  const Device& device() const noexcept { return *device_; }
  std::uint64_t weight_bytes() const noexcept { return weight_bytes_; }
  std::size_t page_bytes() const noexcept { return caches_->page_bytes(); }
  int page() const noexcept { return caches_->page(); }
  std::size_t scratch_bytes();  // of the largest step
  const std::vector<std::string>& unused_tensors() const noexcept { return unused_; }

 private:
  static constexpr int chunk_tokens = 512;  // of one prompt in one step

  class Change;
  void own_pages(Sequence& sequence, std::size_t length, Change& change);
  void own_slot(Sequence& sequence);
  void run(std::span<const Reading> readings, std::vector<float>& logits);
  void describe(std::span<const Reading> readings);
  void forget(Sequence& sequence, std::size_t length) noexcept;  // with the lock on memory held

  std::unique_ptr<Device> device_;
  std::vector<Block> blocks_;
  std::unique_ptr<nn::Network> network_;
  std::unique_ptr<Caches> caches_;
  std::unique_ptr<nn::Step::State> step_;
  FairLock turn_;      // to run a step
  std::mutex memory_;  // of the pools
  int context_ = 0, vocabulary_ = 0;
  std::uint64_t weight_bytes_ = 0;
  std::vector<std::string> unused_;

  // The batch of the running step.
  std::vector<std::int32_t> ids_, query_start_, positions_, page_start_, page_ids_, lengths_, slots_, rows_;
  inlay_page_table table_ = {};
  inlay_batch batch_ = {};
};

}  // namespace inlay::runtime

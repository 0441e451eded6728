// A network on a device with the memory its sequences share: reads tokens of any sequences in one forward pass.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "inlay/gguf.hpp"
#include "inlay/nn/architecture.hpp"
#include "inlay/session.hpp"
#include "runtime/caches.hpp"
#include "runtime/fair_lock.hpp"
#include "runtime/file_weights.hpp"
#include "runtime/judge.hpp"
#include "runtime/packed_file.hpp"
#include "runtime/prefix.hpp"
#include "runtime/sequence.hpp"
#include "runtime/source.hpp"
#include "runtime/step.hpp"

namespace inlay::runtime {

// A page that a step has put into a sequence.
struct TakenPage {
  Sequence* sequence;
  std::size_t index;
  std::int32_t before;  // what stood there; -1: it was appended
};

// The pages of a step's sequences, one after the other.
struct PageList {
  explicit PageList(std::pmr::memory_resource* memory) : start(memory), ids(memory), lengths(memory) {}
  std::pmr::vector<std::int32_t> start, ids, lengths;
  void clear() { start.assign(1, 0), ids.clear(), lengths.clear(); }
  void add(std::span<const std::int32_t> pages, std::size_t length) {
    ids.insert(ids.end(), pages.begin(), pages.end());
    start.push_back(std::int32_t(ids.size())), lengths.push_back(std::int32_t(length));
  }
  inlay_page_table table() const noexcept { return {start.data(), ids.data(), lengths.data()}; }
};

// What turns the keys of one layer; no frequencies: nothing does.
struct Rotation {
  bool interleaved = false;
  std::pmr::vector<float> frequencies;
};

struct KeptTokens;
struct SnapshotHeader;

struct EngineOptions {
  CacheOptions cache;
  bool reuse_prefixes = true;
  bool contiguous = false;  // a range of addresses for each sequence
  int context = 0;          // 0: the file's
  bool measure = false;
  bool keeps_hidden = false;               // for heads
  const class Engine* heads_of = nullptr;  // the network are the file's heads, of this engine's network
  const nn::Architecture* architecture = nullptr;
  int vocabulary = 0;
  std::function<bool(float)> progress = {};
  bool mapped = false;                  // weights are used as the file has them
  std::string model = {}, packed = {};  // paths of the file, and of the one for its packed weights; empty: none
};

class Engine {
 public:
  // Loads the weights. Throws Error naming key, tensor, operation.
  Engine(const gguf::File& file, base::Owned<Device> device, const EngineOptions& options);
  ~Engine();

  // One forward pass. Fills `logits` with [rows wanted, width], in the order of the readings, and `hidden`, where the
  // network keeps_hidden(), with [rows, width] that heads can guess from. With `embeds` it gives what logits are made
  // of instead: [tokens, width]. On an error no sequence has changed. From any thread; passes take their turns.
  using Rows = std::pmr::vector<float>;
  void read(std::span<const Reading> readings, Rows& logits, const std::function<bool()>& stop = {},
            Rows* hidden = nullptr, bool embeds = false);

  // Counts the next token as read: it was a draft of the sequence's last step, and so were those accepted since.
  void accept(Sequence& sequence) noexcept;
  // Makes an empty sequence what a branch of the next step is read with, behind the first `shared` rows; and going on
  // with that, when they are accepted, instead of the trunk's own drafts.
  void branch(const Sequence& trunk, std::size_t shared, Sequence& branch);
  void take_branch(Sequence& trunk, Sequence& branch) noexcept;
  // Gives back the pages that only drafts took.
  void drop_drafts(Sequence& sequence) noexcept;
  bool can_branch() const noexcept { return !keeps_states() && !looks_ahead() && caches_->shares_pages(); }

  // An encoder's rows, [tokens, width]; from `second` on, of a second text. A decoder by itself embeds by read().
  std::pmr::vector<float> encode(std::span<const TokenId> tokens, std::size_t second);
  bool encodes() const noexcept { return network_->encodes(); }
  bool decodes() const noexcept { return !encodes() && !looks_ahead() && !reads_source() && given_width_ == 0; }
  // Sequences are read whole, and again from their beginning when something is appended.
  bool looks_ahead() const noexcept { return network_->looks_ahead(); }
  // What turns an encoder's rows into answers; null where the file has none.
  const Judge* judge() const noexcept { return judge_ ? &*judge_ : nullptr; }
  // Columns of what read() gives for heads, and of what heads are given; 0: none.
  int hidden_width() const noexcept { return hidden_width_; }
  int given_width() const noexcept { return given_width_; }
  int heads() const noexcept { return network_->heads(); }
  // The "logits" of a decoder that judges are answers, and not those of its vocabulary.
  bool answers() const noexcept { return answers_; }

  // What sequences of an encoder-decoder need before they are read; rows: encode() too.
  std::shared_ptr<const Source> read_source(std::span<const TokenId> tokens, std::pmr::vector<float>* rows = nullptr,
                                            const std::function<bool()>& stop = {});
  bool reads_source() const noexcept { return source_pass_ != nullptr; }

  // Takes over what was read of the same beginning before, of at most the first `most` tokens.
  Reuse reuse(Sequence& sequence, std::size_t most);
  // What reuse() would find, which does not count as used; of its pages, those that are held anyway.
  struct Known {
    std::size_t tokens = 0, held = 0;
  };
  Known known(const Sequence& sequence, std::size_t most);
  // Whether what a sequence reads is kept for others, and whether they can take it over only where a step ended.
  bool shares(const Sequence& sequence) const noexcept { return prefixes_ && sequence.shareable; }
  bool keeps_states() const noexcept { return caches_->has_states(); }
  // Pages that others could have if the sequence gave back its own.
  std::size_t releasable(const Sequence& sequence);
  // How far the next step should read: no more than a chunk, and once to the last whole page, where a state can be
  // kept.
  std::size_t end_of_chunk(const Sequence& sequence) const noexcept;
  Sequence fork(const Sequence& from);

  // Takes tokens out of the middle and moves what follows. Throws Error{unsupported} where !can_drop(), Error{memory};
  // the sequence is then as before.
  void drop(Sequence& sequence, std::size_t first, std::size_t count);
  bool can_drop() const noexcept { return shifts_; }

  // A sequence as bytes, and back. `model` is the fingerprint of the file. Throws Error{format|argument|memory}, and
  // what the sink throws.
  using ByteSink = std::function<void(std::span<const std::byte>)>;
  void save(const Sequence& sequence, std::uint64_t model, const ByteSink& sink) const;
  std::uint64_t saved_bytes(const Sequence& sequence) const;  // that save() writes
  Sequence restore(std::span<const std::byte> saved, std::uint64_t model);

  // Forgets all but the first `length` tokens. A recurrent state cannot go back, so what it lost is read again later.
  void rewind(Sequence& sequence, std::size_t length) noexcept;
  // Keeps the tokens, but reads those from `first` on again with the next step.
  void read_again(Sequence& sequence, std::size_t first) noexcept;
  void release(Sequence& sequence) noexcept { rewind(sequence, 0); }
  void trim() noexcept;
  // Has the system find memory for pages that steps will take, so that none of them waits for many at once: for up to
  // `most` more of them, until there are `wanted`.
  void warm(std::size_t wanted, std::size_t most) noexcept;
  // Brings what a sequence keeps back into memory. What the disk has lost is forgotten with all behind it: its tokens
  // are read again with the next step, and a source at once. Throws Error{memory}.
  void wake(Sequence& sequence);

  // Calls work(i) for each i < n on the threads of steps, which must not throw; and how many cores are left beside
  // them.
  void side_by_side(int n, const std::function<void(int)>& work);
  int spare_cores() const noexcept;

  struct Room {
    std::size_t pages = SIZE_MAX, slots = SIZE_MAX;
  };
  Room room() noexcept;  // pages and state slots that sequences may still take

  int context() const noexcept { return context_; }
  int vocabulary() const noexcept { return vocabulary_; }
  int chunk() const noexcept { return chunk_tokens; }
  const Device& device() const noexcept { return *device_; }
  std::pmr::memory_resource* memory() const noexcept { return device_->memory(); }  // of the host, for what is kept
  std::uint64_t weight_bytes() const noexcept { return weight_bytes_; }
  std::size_t page_bytes() const noexcept { return caches_->page_bytes(); }
  // By so much the memory of pages and of states grows at a time; apart: where each is on its own, for a tier.
  std::size_t segment_bytes(bool apart) const noexcept {
    return apart || !caches_->has_pages() ? caches_->page_bytes() : caches_->pages().growth_bytes();
  }
  std::size_t states_bytes(bool apart) const noexcept {
    return apart || !keeps_states() ? caches_->state_bytes() : caches_->slots().growth_bytes();
  }
  int page() const noexcept { return caches_->page(); }
  std::size_t scratch_bytes();  // of the largest step
  const std::vector<std::string>& unused_tensors() const noexcept { return unused_; }

 private:
  static constexpr int chunk_tokens = 512;  // of one prompt in one step

  class Change;
  class Stay;
  void share_prefixes();
  std::shared_ptr<Source> new_source(std::span<const TokenId> tokens);       // with pages that hold nothing yet
  std::size_t bring_back(Pool& pool, std::span<const std::int32_t> blocks);  // how many, up to one that is lost
  void append_page(std::pmr::vector<std::int32_t>& pages) const;
  void copy_pages(const Sequence& from, Sequence& to);
  void own_pages(const Reading& reading, Change& change);
  void own_slot(Sequence& sequence);
  void take_memory(Sequence& sequence);  // for what it has cached, where it holds nothing yet
  void find_rotations();
  Rotation rotation_of(const inlay_rope_op& rope) const;
  void move_rows(const Sequence& from, const Sequence& to, std::size_t first, std::size_t count) const;
  SnapshotHeader snapshot_header(const Sequence& sequence, std::uint64_t model) const;
  void save_rows(const KeptTokens& tokens, const ByteSink& put) const;
  void save_states(const Sequence& sequence, const ByteSink& put) const;
  using TakeBytes = std::function<const std::byte*(std::size_t bytes)>;  // the next ones
  void restore_rows(const KeptTokens& tokens, std::uint32_t k_type, std::uint32_t v_type, const TakeBytes& take);
  void restore_states(const Sequence& sequence, const TakeBytes& take);
  void run(std::span<const Reading> readings, Rows& logits, Rows* hidden, bool embeds);
  void describe(std::span<const Reading> readings);
  void give(std::span<const Reading> readings, const nn::Tensor& to) const;
  void download(const nn::Tensor& rows, std::span<float> numbers) const;
  void encode(const nn::Network& network, nn::Step::State& step, Sequence sequence, std::pmr::vector<float>& rows,
              const std::function<bool()>& stop);
  void forget(Sequence& sequence, std::size_t length) noexcept;  // with the lock on memory held
  void keep_pages(Sequence& sequence) noexcept;                  // those of what is cached; the lock is held, too
  void remember(std::span<const Reading> readings) noexcept;
  void branch_at(Sequence& sequence, PrefixTree::Node* node) noexcept;
  void take_over(Sequence& sequence, const PrefixTree::Match& match);
  PrefixKey key_of(const Sequence& sequence) const;

  base::Owned<Device> device_;
  base::Owned<PackedFile> packed_;
  base::Team team_;  // for what is no operation of the device
  std::mutex team_turn_;
  std::pmr::vector<Block> blocks_;
  FileWeights::Found weights_;  // where heads may use them, too
  std::shared_ptr<const nn::Network> network_;
  std::optional<Judge> judge_;
  bool answers_ = false;
  base::Owned<Caches> caches_;
  base::Owned<PrefixTree> prefixes_;  // null: nothing is shared but by forks
  base::Owned<nn::Step::State> step_;
  base::Owned<const nn::Network> source_pass_;  // of an encoder-decoder, with a step of its own
  base::Owned<nn::Step::State> source_step_;
  std::pmr::vector<Rotation> rotations_;  // for each layer
  bool shifts_ = false;
  FairLock turn_;              // to run a step
  mutable std::mutex memory_;  // of the pools
  int context_ = 0, vocabulary_ = 0, hidden_width_ = 0, given_width_ = 0;
  std::uint64_t weight_bytes_ = 0;
  std::vector<std::string> unused_;  // where nothing is loaded

  // The batch of the running step, and what it did to pages.
  std::pmr::vector<std::int32_t> ids_, query_start_, positions_, types_, slots_, rows_, trunks_, shared_;
  std::pmr::vector<TakenPage> taken_;
  PageList pages_[source_table + 1];
  inlay_page_table tables_[source_table + 1] = {};
  inlay_batch batch_ = {};
};

}  // namespace inlay::runtime

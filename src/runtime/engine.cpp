// Loading a network, and running steps whose failure leaves every sequence as it was.
#include "runtime/engine.hpp"

#include <algorithm>
#include <new>

#include "base/machine.hpp"
#include "runtime/change.hpp"
#include "runtime/model_file.hpp"
#include "runtime/stay.hpp"

namespace inlay::runtime {

namespace {

constexpr int most_context = 1 << 24;

int trained_context(const gguf::File& file, const std::string& key) {
  const auto trained = file.integer(key, 2048);
  if (trained < 1)
    throw Error(Errc::format, "the key " + key + " is " + std::to_string(trained) + ", but must be at least 1",
                Fault::bad_value, key);
  return int(std::min<std::int64_t>(trained, most_context));
}

// A model runs as well without its packed file.
void keep_packed(const std::string& path, std::uint64_t origin, PackedFile::Parts parts, const Device& device) {
  if (parts.empty()) return;
  try {
    PackedFile::write(path, origin, std::move(parts));
  } catch (const std::system_error& error) {
    device.warn("cannot write packed weights to " + path + ": " + error.code().message());
  }
}

std::shared_ptr<const nn::Network> build(const EngineOptions& options, const nn::Metadata& metadata,
                                         const nn::Weights& weights) {
  const auto& architecture = *options.architecture;
  if (!options.heads_of) return architecture.build(metadata, weights);
  auto heads = architecture.heads ? architecture.heads(metadata, weights) : nullptr;
  if (!heads)
    throw Error(Errc::unsupported, "the file has no heads that guess, or none that are known", Fault::unsupported,
                "heads");
  return heads;
}

}  // namespace

Engine::Engine(const gguf::File& file, base::Owned<Device> device, const EngineOptions& options)
    : device_(std::move(device)),
      team_(device_->options().threads, device_->threads(), memory()),
      blocks_(memory()),
      weights_(memory()),
      rotations_(memory()),
      vocabulary_(options.vocabulary),
      ids_(memory()),
      query_start_(memory()),
      positions_(memory()),
      types_(memory()),
      slots_(memory()),
      rows_(memory()),
      trunks_(memory()),
      shared_(memory()),
      taken_(memory()),
      pages_{PageList(memory()), PageList(memory())} {
  const FileMetadata source(file);
  const auto& name = options.architecture->name;
  const int trained = trained_context(file, std::string(name) + ".context_length");
  context_ = options.context > 0 ? std::min(options.context, most_context) : trained;
  std::uint64_t origin = 0;
  if (!options.packed.empty()) {
    origin = PackedFile::origin_of(options.model, file, device_->table().layout(device_->handle()));
    packed_ = PackedFile::open(options.packed, origin, memory());
  }
  FileWeights weights(file, *device_,
                      {.measure = options.measure,
                       .team = &team_,
                       .progress = options.progress,
                       .packed = packed_.get(),
                       .mapped = options.mapped,
                       .known = options.heads_of ? &options.heads_of->weights_ : nullptr});
  const nn::Metadata metadata(source, name, vocabulary_, context_, trained);
  network_ = build(options, metadata, nn::Weights(weights));
  answers_ = !network_->encodes() && file.tensor("cls.output.weight");
  if (network_->encodes()) judge_ = Judge::read(metadata, nn::Weights(weights));
  weights.check_scales();
  if (!options.packed.empty() && !packed_ && !options.measure)
    keep_packed(options.packed, origin, weights.take_parts(), *device_);
  blocks_ = weights.take_blocks();
  weight_bytes_ = weights.bytes();
  if (options.measure) unused_ = weights.unused();
  if (options.keeps_hidden) weights_ = weights.take_found();
  auto cache = options.cache;
  if (options.contiguous) cache.range = context_;
  caches_ = base::make<Caches>(memory(), *device_, network_->caches(), cache);
  // What a decoder keeps of its tokens depends on its source, and pages in a range are of one sequence.
  if (options.reuse_prefixes && !network_->encodes() && !network_->reads_source() && caches_->shares_pages())
    share_prefixes();
  step_ = base::make<nn::Step::State>(memory(), *device_, caches_->keys_values(), caches_->states());
  step_->keeps_hidden = options.keeps_hidden;
  step_->measure(*network_, {1, 1, 1});
  step_->check();
  const auto width = [](const nn::Tensor& rows) { return rows ? int(rows.cols()) : 0; };
  hidden_width_ = width(step_->pass->hidden), given_width_ = width(step_->pass->given);
  if (network_->reads_source()) {
    source_pass_ = base::make<SourcePass>(memory(), *network_);
    source_step_ = base::make<nn::Step::State>(memory(), *device_, caches_->keys_values(), caches_->states());
    source_step_->measure(*source_pass_, {1, 0, 1});
    source_step_->check();
  }
  if (!options.measure) find_rotations();
}

Engine::~Engine() = default;

void Engine::side_by_side(int n, const std::function<void(int)>& work) {
  std::lock_guard turn(team_turn_);
  team_.each(n, work);
}

int Engine::spare_cores() const noexcept {
  return device_->options().parallel ? 0 : std::max(0, base::usable_cores() - team_.size());
}

void Engine::describe(std::span<const Reading> readings) {
  ids_.clear(), positions_.clear(), types_.clear(), slots_.clear(), rows_.clear(), trunks_.clear(), shared_.clear();
  query_start_.assign(1, 0);
  for (auto& pages : pages_) pages.clear();
  for (const auto& reading : readings) {
    const auto& sequence = *reading.sequence;
    const auto base = std::int32_t(ids_.size());
    if (reading.count > 0) {
      const auto unread = std::span(sequence.tokens).subspan(sequence.cached, std::size_t(reading.count));
      ids_.insert(ids_.end(), unread.begin(), unread.end());
    }
    ids_.insert(ids_.end(), reading.drafts.begin(), reading.drafts.end());
    for (int i = 0; i < reading.rows(); ++i) positions_.push_back(std::int32_t(sequence.cached) + i);
    types_.insert(types_.end(), sequence.types.begin(), sequence.types.end());
    for (const int row : reading.wanted) rows_.push_back(base + row);
    pages_[own_table].add(sequence.pages, sequence.cached + std::size_t(reading.rows()));
    if (const auto& source = sequence.source) pages_[source_table].add(source->pages, source->tokens.size());
    slots_.push_back(sequence.slot), trunks_.push_back(reading.trunk), shared_.push_back(reading.shared);
    query_start_.push_back(std::int32_t(ids_.size()));
  }
  for (const auto table : {own_table, source_table}) tables_[table] = pages_[table].table();
  batch_ = {sizeof(batch_),
            std::int32_t(ids_.size()),
            std::int32_t(readings.size()),
            caches_->has_sources() ? 2 : 1,
            1,
            ids_.data(),
            query_start_.data(),
            positions_.data(),
            caches_->has_states() ? slots_.data() : nullptr,
            tables_,
            trunks_.data(),
            shared_.data(),
            types_.empty() ? nullptr : types_.data()};
}

void Engine::read(std::span<const Reading> readings, Rows& logits, const std::function<bool()>& stop, Rows* hidden) {
  std::lock_guard turn(turn_);
  // A state is overwritten as it is read, so a step that fails has lost it: its tokens are read again later.
  const auto lose_states = [&] {
    std::lock_guard guard(memory_);
    if (caches_->has_states())
      for (const auto& reading : readings) forget(*reading.sequence, 0);
  };
  try {
    const CancelWhen cancel(*device_, stop);
    run(readings, logits, hidden);
  } catch (const std::bad_alloc&) {
    lose_states();
    throw Error(Errc::memory, "no memory for the lists of a step");
  } catch (...) {
    lose_states();
    throw;
  }
  remember(readings);
}

void Engine::accept(Sequence& sequence) noexcept {
  ++sequence.cached;
  const Reading reading{&sequence, 1, {}};
  remember({&reading, 1});
}

Sequence Engine::branch(const Sequence& trunk, std::size_t shared) {
  Sequence branch{.cached = trunk.cached + shared, .pages = trunk.pages, .shareable = false, .source = trunk.source};
  std::lock_guard guard(memory_);
  for (const auto page : branch.pages) caches_->pages().share(page);
  return branch;
}

void Engine::take_branch(Sequence& trunk, Sequence& branch) noexcept {
  trunk.pages.swap(branch.pages);
  release(branch);
}

void Engine::drop_drafts(Sequence& sequence) noexcept {
  std::lock_guard guard(memory_);
  keep_pages(sequence);
}

void Engine::download(const nn::Tensor& rows, std::span<float> numbers) const {
  device_->table().download(device_->handle(), numbers.data(), rows.view.data, numbers.size_bytes());
}

void Engine::give(std::span<const Reading> readings, const nn::Tensor& to) const {
  if (!to) return;
  auto* next = static_cast<std::byte*>(to.view.data);
  for (const auto& reading : readings) {
    device_->table().upload(device_->handle(), next, reading.given.data(), reading.given.size_bytes());
    next += reading.rows() * to.view.stride[0];
  }
}

void Engine::run(std::span<const Reading> readings, Rows& logits, Rows* hidden) {
  Change change(*this);
  Stay stay(*this);
  {
    std::lock_guard guard(memory_);
    for (const auto& reading : readings) stay.add(*reading.sequence);
    // A branch first: what it copies its trunk then has for itself.
    for (auto reading = readings.rbegin(); reading != readings.rend(); ++reading) {
      own_pages(*reading, change);
      own_slot(*reading->sequence);
    }
    for (const auto& reading : readings) stay.add(*reading.sequence);  // with what is new
  }
  describe(readings);
  // A pass computes at least one row, also where nobody asks for one.
  const bool none = rows_.empty();
  if (none) rows_.push_back(std::int32_t(ids_.size()) - 1);
  step_->record(*network_, {std::int64_t(ids_.size()), std::int64_t(rows_.size()), std::int64_t(readings.size())},
                rows_.data());
  const auto& pass = step_->pass;
  logits.resize(none ? 0 : rows_.size() * std::size_t(pass->output.cols()));
  if (hidden) hidden->resize(ids_.size() * std::size_t(hidden_width_));
  give(readings, pass->given);
  step_->run(batch_);
  if (!none) download(pass->output, logits);
  if (hidden) download(pass->hidden, *hidden);
  for (const auto& reading : readings) reading.sequence->cached += std::size_t(reading.count);
  change.keep();
}

std::size_t Engine::scratch_bytes() {
  std::lock_guard turn(turn_);
  Sequence longest;
  longest.tokens.resize(chunk_tokens);
  if (reads_source())
    longest.source = base::make_shared<Source>(memory(), longest.tokens, memory(), caches_->pages(), memory_);
  const int last = chunk_tokens - 1;
  const Reading reading{&longest, chunk_tokens, {&last, 1}};
  describe({&reading, 1});
  const auto bytes = step_->measure(*network_, {chunk_tokens, 1, 1}), work = step_->workspace(batch_);
  if (!reads_source()) return bytes + work;
  const auto of_source = source_step_->measure(*source_pass_, {chunk_tokens, 0, 1});
  return bytes + of_source + std::max(work, source_step_->workspace(batch_));
}

}  // namespace inlay::runtime

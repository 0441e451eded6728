// Steps, whose failure leaves every sequence as it was, and what is kept of the drafts that they read.
#include <new>

#include "runtime/change.hpp"
#include "runtime/engine.hpp"
#include "runtime/stay.hpp"

namespace inlay::runtime {

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

void Engine::read(std::span<const Reading> readings, Rows& logits, const std::function<bool()>& stop, Rows* hidden,
                  bool embeds) {
  std::lock_guard turn(turn_);
  // A state is overwritten as it is read, so a step that fails has lost it: its tokens are read again later.
  const auto lose_states = [&] {
    std::lock_guard guard(memory_);
    if (caches_->has_states())
      for (const auto& reading : readings) forget(*reading.sequence, 0);
  };
  try {
    const CancelWhen cancel(*device_, stop);
    run(readings, logits, hidden, embeds);
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

void Engine::branch(const Sequence& trunk, std::size_t shared, Sequence& branch) {
  branch.pages = trunk.pages;
  branch.cached = trunk.cached + shared, branch.shareable = false, branch.source = trunk.source;
  std::lock_guard guard(memory_);
  for (const auto page : branch.pages) caches_->pages().share(page);
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

void Engine::run(std::span<const Reading> readings, Rows& logits, Rows* hidden, bool embeds) {
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
  // A pass computes at least one row of logits, also where nobody asks for one.
  const bool none = rows_.empty() && !embeds;
  if (none) rows_.push_back(std::int32_t(ids_.size()) - 1);
  step_->record(*network_, {std::int64_t(ids_.size()), std::int64_t(rows_.size()), std::int64_t(readings.size())},
                rows_.data());
  const auto& pass = step_->pass;
  if (embeds && pass->output.rows() != std::int64_t(ids_.size()))
    throw Error(Errc::unsupported, "this model gives no rows of its tokens to embed texts with", Fault::unsupported,
                "general.architecture");
  const auto numbers = none ? 0 : std::size_t(pass->output.rows() * pass->output.cols());
  // Whoever is the next of many to have a row shall not have all of them moved.
  if (logits.capacity() < numbers) logits.clear(), logits.reserve(readings.size() > 1 ? 2 * numbers : numbers);
  logits.resize(numbers);
  if (hidden) hidden->resize(ids_.size() * std::size_t(hidden_width_));
  give(readings, pass->given);
  step_->run(batch_);
  if (!none) download(pass->output, logits);
  if (hidden) download(pass->hidden, *hidden);
  for (const auto& reading : readings) reading.sequence->cached += std::size_t(reading.count);
  change.keep();
}

}  // namespace inlay::runtime

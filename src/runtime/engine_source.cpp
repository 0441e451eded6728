// The encoder's pass of an encoder-decoder, and an encoder's own.
#include "runtime/stay.hpp"

namespace inlay::runtime {

std::shared_ptr<Source> Engine::new_source(std::span<const TokenId> tokens) {
  auto& pool = caches_->pages();
  const auto page = std::size_t(caches_->page());
  auto source = base::make_shared<Source>(memory(), tokens, memory(), pool, memory_);
  source->pages.reserve((tokens.size() + page - 1) / page);
  std::lock_guard guard(memory_);
  while (source->pages.size() * page < tokens.size()) append_page(source->pages);
  return source;
}

std::shared_ptr<const Source> Engine::read_source(std::span<const TokenId> tokens, std::pmr::vector<float>* rows,
                                                  const std::function<bool()>& stop) {
  const auto source = new_source(tokens);
  std::pmr::vector<float> unread(memory());
  encode(*source_pass_, *source_step_, {.tokens = {source->tokens, memory()}, .source = source}, rows ? *rows : unread,
         stop);
  return source;
}

std::pmr::vector<float> Engine::encode(std::span<const TokenId> tokens, std::size_t second) {
  std::pmr::vector<float> rows(memory());
  std::pmr::vector<std::int32_t> types(memory());
  if (second < tokens.size()) types.resize(second), types.resize(tokens.size(), 1);
  if (reads_source())
    read_source(tokens, &rows);
  else
    encode(*network_, *step_, {.tokens = {tokens.begin(), tokens.end(), memory()}, .types = std::move(types)}, rows,
           {});
  return rows;
}

void Engine::encode(const nn::Network& network, nn::Step::State& step, Sequence sequence, std::pmr::vector<float>& rows,
                    const std::function<bool()>& stop) {
  const auto count = sequence.tokens.size();
  const Reading reading{&sequence, int(count), {}};
  std::lock_guard turn(turn_);
  Stay stay(*this);
  stay.add_locked(sequence);
  describe({&reading, 1});
  step.record(network, {std::int64_t(count), 0, 1}, nullptr);
  const CancelWhen cancel(*device_, stop);
  step.run(batch_);
  rows.resize(count * std::size_t(step.pass->output.cols()));
  download(step.pass->output, rows);
}

}  // namespace inlay::runtime

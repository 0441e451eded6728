// Loading a network, and what it takes.
#include "runtime/engine.hpp"

#include <algorithm>

#include "base/machine.hpp"
#include "runtime/file_metadata.hpp"

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
  if (!options.heads_of) weights.check_layers();
  weights.check_scales();
  weights.finish();
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
  const bool kept = !network_->encodes() && !network_->looks_ahead() && !network_->reads_source();
  if (options.reuse_prefixes && kept && caches_->shares_pages()) share_prefixes();
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

std::size_t Engine::scratch_bytes() {
  std::lock_guard turn(turn_);
  Sequence longest;
  longest.tokens.resize(chunk_tokens);
  if (reads_source())
    longest.source = base::make_shared<Source>(memory(), longest.tokens, memory(), caches_->pages(), memory_);
  const int last = chunk_tokens - 1;
  const Reading reading{&longest, chunk_tokens, {&last, 1}};
  describe({&reading, 1});
  auto bytes = step_->measure(*network_, {chunk_tokens, 1, 1}), work = step_->workspace(batch_);
  if (decodes()) {
    bytes = std::max(bytes, step_->measure(*network_, {chunk_tokens, 0, 1}));
    work = std::max(work, step_->workspace(batch_));
  }
  if (!reads_source()) return bytes + work;
  const auto of_source = source_step_->measure(*source_pass_, {chunk_tokens, 0, 1});
  return bytes + of_source + std::max(work, source_step_->workspace(batch_));
}

}  // namespace inlay::runtime

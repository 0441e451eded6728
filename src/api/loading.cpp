// What options ask for, checked, and the parts of a model put together.
#include "api/loading.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <optional>

#include "api/models.hpp"
#include "base/machine.hpp"
#include "cpu/cpu.hpp"

namespace inlay {
inline namespace v0 {

namespace {

std::optional<std::uint32_t> type_of(CacheType type) {
  switch (type) {
    case CacheType::automatic: return {};
    case CacheType::f32: return INLAY_F32;
    case CacheType::bf16: return INLAY_BF16;
    case CacheType::q8_0: return INLAY_Q8_0;
    case CacheType::q4_0: return INLAY_Q4_0;
    default: return INLAY_F16;
  }
}

// A fixed figure that programs can count on; long contexts of 8B models fit.
constexpr std::size_t default_cache_bytes = std::size_t(6) << 30;

void check(const LoadOptions& options) {
  const auto refuse = [](const char* field, const char* why) {
    throw Error(Errc::argument, std::string("LoadOptions::") + field + " " + why, Fault::bad_value, field);
  };
  if (options.threads < 0) refuse("threads", "must not be negative");
  if (options.context < 0) refuse("context", "must not be negative");
  if (options.page < 1) refuse("page", "must be at least 1");
  if (options.disk_bytes > 0 && options.disk_folder.empty()) refuse("disk_folder", "must name the folder of the file");
  if (options.contiguous && (options.disk_bytes > 0 || options.memory))
    refuse("contiguous", "takes memory from the system only: without disk_bytes, and not from LoadOptions::memory");
  if (options.device != "auto" && options.device != "cpu")
    refuse("device", ("names no device that is here: " + options.device).c_str());
}

base::Owned<runtime::Device> open_device(const LoadOptions& options) {
  runtime::DeviceOptions device{
      .threads = options.threads, .isa = options.isa, .memory = options.memory, .parallel = options.parallel};
  if (options.log) device.log = [log = options.log](int level, std::string_view text) { log(Level(level), text); };
  return base::make<runtime::Device>(base::or_heap(options.memory), cpu::backend(), std::move(device));
}

// The type that most bytes of the weights have.
std::string quantization(const gguf::File& file) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (const auto& tensor : file.tensors()) bytes[tensor.type] += tensor.data.size();
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : std::string(gguf::type_name(most->first));
}

std::string optional_text(const gguf::File& file, std::string_view key) {
  const auto* value = file.find(key);
  return std::string(value ? value->text().value_or("") : "");
}

ModelInfo describe(const ModelState& state) {
  const auto& file = state.file;
  ModelInfo info;
  info.name = optional_text(file, "general.name");
  info.architecture = optional_text(file, "general.architecture");
  info.license = optional_text(file, "general.license");
  info.chat_template = optional_text(file, "tokenizer.chat_template");
  info.quantization = quantization(file);
  info.bytes = file.bytes();
  for (const auto& tensor : file.tensors()) {
    std::uint64_t n = 1;
    for (const auto d : tensor.shape) n *= std::uint64_t(d);
    info.parameters += n;
  }
  return info;
}

bool is_causal(const gguf::File& file) {
  return file.flag(std::string(file.text("general.architecture")) + ".attention.causal", true);
}

// `path`: of the model's file; empty: it is in memory.
runtime::EngineOptions engine_options(const ModelState& state, const LoadOptions& options, const std::string& path) {
  const bool keeps = options.weights == WeightPlace::packed_file;
  if (keeps && path.empty())
    throw Error(Errc::argument, "LoadOptions::weights: a model in memory has no packed file", Fault::bad_value,
                "weights");
  const auto name = state.file.text("general.architecture");
  const int listed = text::Tokenizer::size_in(state.file);
  return {.cache = {.k_type = type_of(options.keys),
                    .v_type = type_of(options.values),
                    .page = options.page,
                    .most_bytes = options.cache_bytes ? options.cache_bytes : default_cache_bytes,
                    .disk_bytes = options.disk_bytes,
                    .disk_folder = options.disk_folder},
          .reuse_prefixes = options.reuse_prefixes,
          .contiguous = options.contiguous,
          .context = options.context,
          .keeps_hidden = options.heads,
          .architecture = &api::find_architecture(name, options.architectures, is_causal(state.file)),
          .vocabulary = listed > 0 ? listed : int(state.file.integer(std::string(name) + ".vocab_size")),
          .progress = options.progress,
          .mapped = options.weights == WeightPlace::model_file,
          .model = path,
          .packed = keeps ? path + ".packed" : std::string()};
}

// What sees later tokens, too, is computed so or not at all.
void check_causal(const ModelState& state) {
  if (is_causal(state.file) || !state.engine->decodes()) return;
  const auto key = state.info.architecture + ".attention.causal";
  throw Error(Errc::unsupported, "the key " + key + " is false, and this architecture is known as a decoder only",
              Fault::unsupported, key);
}

// The engine of the file's heads, beside the one of its model.
base::Owned<runtime::Engine> heads_engine(const ModelState& state, const runtime::Engine& engine,
                                          const LoadOptions& options, runtime::EngineOptions chosen) {
  const auto refuse = [](const char* why) { throw Error(Errc::unsupported, why, Fault::unsupported, "heads"); };
  if (engine.keeps_states()) refuse("the model is recurrent, and cannot take a wrong guess back");
  if (engine.hidden_width() == 0) refuse("the model does not keep what heads guess from");
  chosen.heads_of = &engine;
  chosen.reuse_prefixes = chosen.contiguous = false;
  chosen.cache.disk_bytes = 0;
  chosen.packed.clear();
  chosen.progress = {};
  auto heads = base::make<runtime::Engine>(state.memory, state.file, open_device(options), chosen);
  if (heads->given_width() != engine.hidden_width()) refuse("the file's heads do not fit its model");
  return heads;
}

void load_engine(ModelState& state, const LoadOptions& options, const std::string& path) {
  const auto chosen = engine_options(state, options, path);
  state.engine = base::make<runtime::Engine>(state.memory, state.file, open_device(options), chosen);
  check_causal(state);
  if (options.heads) state.heads = heads_engine(state, *state.engine, options, chosen);
  const auto& device = state.engine->device();
  auto& info = state.info;
  info.device = device.table().name;
  info.isa = device.table().isa(device.handle());
  info.threads = device.options().threads > 0 ? device.options().threads : base::usable_cores();
  info.context = state.engine->context();
  info.encoder = state.engine->encodes();
  info.encoder_decoder = state.engine->reads_source();
  info.vocabulary = state.engine->vocabulary();
  const std::string prefix = info.architecture + ".";
  info.width = int(state.file.integer(prefix + "embedding_length", 0));
  info.layers = int(state.file.integer(prefix + "block_count", 0));
  const auto padding = state.file.integer("tokenizer.ggml.padding_token_id", 0);
  const auto first = state.file.integer(prefix + "decoder_start_token_id", padding);
  if (info.encoder_decoder && (first < 0 || first >= info.vocabulary))
    throw Error(Errc::format, "the key " + prefix + "decoder_start_token_id is not in the vocabulary",
                Fault::out_of_bounds, prefix + "decoder_start_token_id");
  state.first_written = TokenId(first);
}

// The tokenizer: read beside the weights by a thread of its own, unless threads or memory are the host's.
std::future<std::shared_ptr<const text::Tokenizer>> read_tokenizer(const gguf::File& file, const LoadOptions& options) {
  const bool ours = !options.parallel && !options.memory && options.threads != 1 && !options.vocabulary_only;
  return std::async(ours ? std::launch::async | std::launch::deferred : std::launch::deferred,
                    [&file, memory = base::or_heap(options.memory)]() -> std::shared_ptr<const text::Tokenizer> {
                      return text::Tokenizer::from(file, memory);
                    });
}

}  // namespace

std::shared_ptr<const ModelState> load_state(gguf::File&& file, const LoadOptions& options, const std::string& path) {
  check(options);
  const auto memory = base::or_heap(options.memory);
  auto state = base::make_shared<ModelState>(memory, std::move(file), memory);
  if (!options.vocabulary_only) (void)state->file.text("general.architecture");
  auto tokenizer = read_tokenizer(state->file, options);
  state->info = describe(*state);
  try {
    if (!options.vocabulary_only) load_engine(*state, options, path);
  } catch (...) {
    tokenizer.get();  // what is wrong with the vocabulary is said first
    throw;
  }
  state->tokenizer = tokenizer.get();
  if (options.vocabulary_only) state->info.vocabulary = state->tokenizer->size();
  state->info.bos = state->tokenizer->bos(), state->info.eos = state->tokenizer->eos();
  return state;
}

std::vector<base::Owned<runtime::Engine>> measured_engines(std::string_view path, const LoadOptions& options) {
  check(options);
  ModelState state(gguf::File::open(path, {.memory = options.memory}), base::or_heap(options.memory));
  auto chosen = engine_options(state, options, std::string(path));
  chosen.measure = true;
  chosen.cache.disk_bytes = 0;
  chosen.progress = {};
  std::vector<base::Owned<runtime::Engine>> engines;
  engines.push_back(base::make<runtime::Engine>(state.memory, state.file, open_device(options), chosen));
  if (options.heads) engines.push_back(heads_engine(state, *engines.front(), options, chosen));
  return engines;
}

}  // namespace v0
}  // namespace inlay

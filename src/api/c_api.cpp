// The C door to models: loading, facts, and text to tokens and back.
#include "api/c_api.hpp"

using namespace inlay::api;

namespace {

inlay::LoadOptions load_options(const inlay_load& load, std::shared_ptr<HostMemory>& memory) {
  inlay::LoadOptions options;
  if (load.device.size > 0) options.device = view(load.device);
  options.isa = view(load.isa);
  options.threads = load.threads;
  options.context = load.context;
  options.cache_bytes = static_cast<std::size_t>(load.cache_bytes);
  options.keys = static_cast<inlay::CacheType>(load.keys);
  options.values = static_cast<inlay::CacheType>(load.values);
  options.page = load.page;
  options.reuse_prefixes = load.reuse_prefixes != 0;
  options.weights = static_cast<inlay::WeightPlace>(load.weights);
  options.contiguous = load.contiguous != 0;
  options.heads = load.heads != 0;
  options.disk_bytes = static_cast<std::size_t>(load.disk_bytes);
  options.disk_folder = view(load.disk_folder);
  options.vocabulary_only = load.vocabulary_only != 0;
  if (load.progress) options.progress = [load](float done) { return load.progress(load.user, done) != 0; };
  if (load.log) {
    options.log = [load](inlay::Level level, std::string_view message) {
      load.log(load.user, static_cast<inlay_level>(level), text(message));
    };
  }
  if (load.parallel) {
    options.parallel = [load](int n, const std::function<void(int)>& body) {
      const auto call = [](void* context, std::int32_t i) {
        (*static_cast<const std::function<void(int)>*>(context))(i);
      };
      load.parallel(load.user, n, call, const_cast<std::function<void(int)>*>(&body));
    };
  }
  if (!load.alloc != !load.release) {
    throw inlay::Error(inlay::Errc::argument, "alloc and release belong together: one of them is NULL");
  }
  if (load.alloc) {
    memory = std::make_shared<HostMemory>(load);
    options.memory = memory.get();
  }
  return options;
}

// Loads from whatever Model::load takes.
template <class Source>
inlay_status load_model(Source source, const inlay_load* load, inlay_model** out, inlay_error* error) noexcept {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    std::shared_ptr<HostMemory> memory;
    const auto options = load_options(versioned<inlay_load>(load, INLAY_LOAD_INIT), memory);
    auto model = inlay::Model::load(source, options);
    *out = new inlay_model{std::move(memory), std::move(model)};
    return INLAY_OK;
  });
}

}  // namespace

uint32_t inlay_version(void) {
  std::uint32_t number = 0, part = 0;
  for (const char c : std::string_view(INLAY_VERSION ".")) {
    if (c == '.') {
      number = number << 8 | part;
      part = 0;
    } else {
      part = part * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  return number;
}

inlay_status inlay_model_load(inlay_text path, const inlay_load* load, inlay_model** out, inlay_error* error) {
  return load_model(view(path), load, out, error);
}

inlay_status inlay_model_load_memory(const void* file, size_t bytes, const inlay_load* load, inlay_model** out,
                                     inlay_error* error) {
  return load_model(std::span(static_cast<const std::byte*>(file), file ? bytes : 0), load, out, error);
}

inlay_status inlay_model_plan(inlay_text path, const inlay_load* load, inlay_plan* out, inlay_error* error) {
  return status_of(error, [&] {
    std::shared_ptr<HostMemory> memory;
    const auto options = load_options(versioned<inlay_load>(load, INLAY_LOAD_INIT), memory);
    const auto plan = inlay::Model::plan(view(path), options);
    required(out, "out") = {plan.weights, plan.scratch, plan.page, plan.per_token, plan.segment, plan.states};
    return INLAY_OK;
  });
}

inlay_status inlay_model_unused_tensors(inlay_text path, const inlay_load* load, void (*show)(void* user, inlay_text),
                                        void* user, inlay_error* error) {
  return status_of(error, [&] {
    if (!show) throw inlay::Error(inlay::Errc::argument, "show is NULL");
    std::shared_ptr<HostMemory> memory;
    const auto options = load_options(versioned<inlay_load>(load, INLAY_LOAD_INIT), memory);
    for (const auto& name : inlay::Model::unused_tensors(view(path), options)) show(user, text(name));
    return INLAY_OK;
  });
}

inlay_status inlay_model_info(const inlay_model* model, inlay_info* out, inlay_error* error) {
  return status_of(error, [&] {
    const auto& info = required(model, "model").model.info();
    const inlay_info all = {sizeof(inlay_info),
                            text(info.name),
                            text(info.architecture),
                            text(info.quantization),
                            text(info.license),
                            text(info.chat_template),
                            text(info.device),
                            text(info.isa),
                            info.parameters,
                            info.bytes,
                            info.vocabulary,
                            info.width,
                            info.layers,
                            info.context,
                            info.threads,
                            info.bos,
                            info.eos,
                            info.encoder ? 1 : 0,
                            info.encoder_decoder ? 1 : 0};
    const auto size = std::min(required(out, "out").size, sizeof(inlay_info));
    std::memcpy(out, &all, size);
    out->size = size;
    return INLAY_OK;
  });
}

inlay_status inlay_model_trim(const inlay_model* model, inlay_error* error) {
  return status_of(error, [&] {
    required(model, "model").model.trim();
    return INLAY_OK;
  });
}

void inlay_model_free(inlay_model* model) { delete model; }

inlay_status inlay_tokenize(const inlay_model* model, inlay_text input, uint32_t flags, int32_t* tokens,
                            size_t capacity, size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    const inlay::TokenizeOptions options{.specials = (flags & INLAY_ADD_SPECIALS) != 0,
                                         .parse_specials = (flags & INLAY_PARSE_SPECIALS) != 0};
    return deliver(required(model, "model").model.tokenize(view(input), options), tokens, capacity, count);
  });
}

inlay_status inlay_detokenize(const inlay_model* model, const int32_t* tokens, size_t n, uint32_t flags, char* bytes,
                              size_t capacity, size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    const inlay::DetokenizeOptions options{.remove_specials = (flags & INLAY_REMOVE_SPECIALS) != 0,
                                           .show_specials = (flags & INLAY_SHOW_SPECIALS) != 0};
    const auto input = list(tokens, n, "tokens");
    return deliver(required(model, "model").model.detokenize(input, options), bytes, capacity, count);
  });
}

inlay_status inlay_detokenize_stream(const inlay_model* model, const int32_t* tokens, size_t n,
                                     void (*show)(void* user, inlay_text), void* user, inlay_error* error) {
  return status_of(error, [&] {
    if (!show) throw inlay::Error(inlay::Errc::argument, "show is NULL");
    for (const auto& chunk : required(model, "model").model.detokenize_stream(list(tokens, n, "tokens"))) {
      show(user, text(chunk));
    }
    return INLAY_OK;
  });
}

inlay_status inlay_piece(const inlay_model* model, int32_t token, int show_special, char* bytes, size_t capacity,
                         size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    return deliver(required(model, "model").model.piece(token, show_special != 0), bytes, capacity, count);
  });
}

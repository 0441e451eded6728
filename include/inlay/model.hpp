// A loaded model: weights, vocabulary, and the memory its sessions share.
#pragma once

#include <memory_resource>

#include "inlay/session.hpp"

namespace inlay {
inline namespace v0 {

namespace nn {
struct Architecture;
}

enum class Level { debug, info, warning, error };

/// How keys and values are kept between steps. automatic: bf16 where the instruction set multiplies that faster
/// ("avx512bf16"), which shows in prompts that stand behind much text; f16 elsewhere.
enum class CacheType { f16, f32, bf16, q8_0, q4_0, automatic };

/// Where weights lie: packed into the device's own form in memory, or the same in a file beside the model,
/// "<model>.packed". Whoever loads it first writes that file, if it can be written; others map it, start at once, and
/// share it. It is written anew when the model has changed. Or as the model's file has them, mapped: that starts at
/// once, too, reads prompts as fast, and writes up to twice as slowly; scales that are no numbers are not looked for.
enum class WeightPlace { memory, packed_file, model_file };

struct LoadOptions {
  std::string device = "auto";  ///< "cpu"; auto: the best that works
  int threads = 0;              ///< 0: one per physical core, within the CPU quota
  int context = 0;              ///< tokens per session at most; 0: what the model was trained for
  std::size_t cache_bytes = 0;  ///< most that key/value pages and states may take; 0: 6 GiB
  /// What was not used for longest goes to a nameless file in a folder when cache_bytes are taken, and comes back with
  /// its session. At most so many bytes; 0: none. What the disk loses is read again from its tokens.
  std::size_t disk_bytes = 0;
  std::string disk_folder = {};
  WeightPlace weights = WeightPlace::memory;
  CacheType keys = CacheType::automatic, values = CacheType::automatic;
  int page = 32;               ///< tokens per page of the cache, at least 1
  bool reuse_prefixes = true;  ///< keep what sessions have read, while memory allows, for prompts that begin alike
  /// Keeps each session's keys and values in one range of addresses, which has memory only for the tokens there are.
  /// Nothing is shared: forks copy, and prompts that begin alike are read again.
  bool contiguous = false;
  /// Loads what of the file guesses later tokens: Medusa's heads, or blocks that predict them (MTP). Sessions that
  /// speculate then ask it. Error{unsupported} where there is none. Its keys and values come on top of cache_bytes.
  bool heads = false;
  /// Force "avx2", "baseline", "reference", ... instead of the best found. "avx512bf16" multiplies F16 and BF16
  /// weights, and keys and values that are BF16, as bfloat16, all others exactly in f32.
  std::string isa = {};
  std::function<bool(float done)> progress = {};          ///< from 0 to 1; return false to give up: Error{cancelled}
  std::function<void(Level, std::string_view)> log = {};  ///< nothing is ever printed; this is the only voice
  /// Call f(0..n-1) once each on your threads, even one after another.
  std::function<void(int n, const std::function<void(int)>&)> parallel = {};
  /// Serves all that is kept for the model, its sessions and batches, and what work takes for a moment that grows with
  /// a file, a vocabulary, a text or a context; null: the heap. Must be thread-safe and outlive them. On the heap stay
  /// what is made without a model (grammars, templates, and what these work in), values in standard types that are
  /// handed out or in (info(), tokens, saved bytes, samplers), chats with their messages, errors, what threads and
  /// functions of the host's are to the standard library, and for a moment what a model of another vocabulary guesses
  /// from, and less than 32 KiB.
  std::pmr::memory_resource* memory = nullptr;
  std::vector<const nn::Architecture*> architectures = {};  ///< your own, looked at before the built-in ones
  bool vocabulary_only = false;                             ///< tokenizer, template and facts; no weights
};

struct TokenizeOptions {
  bool specials = false;        ///< add BOS/EOS as the file asks
  bool parse_specials = false;  ///< text that spells a control token becomes that token
};
struct DetokenizeOptions {
  bool remove_specials = false;  ///< drop a leading BOS and trailing EOS that the vocabulary adds
  bool show_specials = false;    ///< control tokens are written out
};

/// How the rows of a text's tokens become one. model: as the file says; where it does not, the mean of an encoder's,
/// while a decoder's must be chosen. none: a row for each token.
enum class Pooling { model, none, mean, cls, last };

struct EmbedOptions {
  Pooling pooling = Pooling::model;
  bool normalize = true;  ///< to unit length
};

/// Row-major [rows, width].
struct Embeddings {
  std::vector<float> values;
  std::size_t width = 0;
  std::size_t rows() const noexcept { return width ? values.size() / width : 0; }
  std::span<const float> operator[](std::size_t i) && = delete;
  std::span<const float> operator[](std::size_t i) const& noexcept { return {values.data() + i * width, width}; }
};

/// Facts about a loaded model.
struct ModelInfo {
  std::string name, architecture, quantization, license, chat_template, device, isa;
  std::uint64_t parameters = 0, bytes = 0;  ///< bytes: of the file
  int vocabulary = 0, width = 0, layers = 0;
  int context = 0;  ///< tokens per session at most
  int threads = 0;
  TokenId bos = -1, eos = -1;    ///< -1: none
  bool encoder = false;          ///< embeds texts, and generates none
  bool encoder_decoder = false;  ///< reads a source, then writes: a prompt is the source, and each one begins anew
};

/// Bytes that the device takes for a model, exactly: what LoadOptions::memory is asked for in lines of 64 bytes. Tables
/// of the file and its vocabulary, tokens and small objects come on top.
struct Plan {
  std::uint64_t weights = 0;    ///< packed weights
  std::uint64_t scratch = 0;    ///< the largest step's, of one session
  std::uint64_t page = 0;       ///< one page of the cache
  std::uint64_t per_token = 0;  ///< of the cache
  std::uint64_t segment = 0;    ///< several pages: by so much the cache grows at a time
  std::uint64_t states = 0;     ///< by so much it grows for the states of recurrent models, several sessions' at a time
  /// With one session of so many tokens.
  std::uint64_t total(int tokens) const noexcept {
    const auto cache = per_token * std::uint64_t(tokens);
    return weights + scratch + states + (segment ? (cache + segment - 1) / segment * segment : cache);
  }
};

/// Weights, vocabulary and the page pool that its sessions share. Immutable
/// after load and safe to use from any thread. Copying copies a handle.
class INLAY_API Model {
 public:
  /// Opens a GGUF file. `path` is UTF-8. Throws Error{io}, Error{format} (names
  /// the key or tensor), Error{unsupported} (names the architecture or
  /// quantization), Error{memory}, Error{device}, Error{cancelled}.
  static Model load(std::string_view path, const LoadOptions& = {});
  /// From a file in memory, which is kept by reference and must outlive the model.
  static Model load(std::span<const std::byte> file, const LoadOptions& = {});
  static Model load(std::vector<std::byte>&& file, const LoadOptions& = {}) = delete;
  static Plan plan(std::string_view path, const LoadOptions& = {});  ///< before anything is loaded
  /// Names of the file's tensors that its architecture never asks for: a term of the model may have been forgotten.
  /// Loads nothing; throws as load does.
  static std::vector<std::string> unused_tensors(std::string_view path, const LoadOptions& = {});

  Session session(const SessionOptions& = {}) const;
  /// What Session::save wrote, of this model's file. Page size, instruction set and cache types may be others by now:
  /// keys and values are converted. Throws Error{io}, Error{format} for a damaged file or one of another model,
  /// Error{argument} where the context has become too short.
  Session restore(std::string_view path, const SessionOptions& = {}) const;
  Session restore(std::span<const std::byte> saved, const SessionOptions& = {}) const;

  std::vector<TokenId> tokenize(std::string_view text, TokenizeOptions = {}) const;
  std::string detokenize(std::span<const TokenId> tokens, DetokenizeOptions = {}) const;
  /// What a stream shows after each token: whole UTF-8 characters only; one more entry at the end holds what is left.
  std::vector<std::string> detokenize_stream(std::span<const TokenId> tokens) const;
  /// The bytes of one token; Error{argument} if there is no such token.
  std::string piece(TokenId, bool show_special = true) const;

  /// What the model makes of texts: a row for each, or for each token of all of them with Pooling::none. An encoder
  /// sees a text whole; a decoder's rows are what its logits are made of, of each token and those before it, and
  /// meanwhile take as much of the cache as a session. Special tokens are added as the file asks. Throws
  /// Error{argument} for a text longer than the context, a decoder without a pooling and a model that fills texts in,
  /// Error{memory}.
  Embeddings embed(std::string_view text, EmbedOptions = {}) const;
  Embeddings embed(std::span<const std::string_view> texts, EmbedOptions = {}) const;
  Embeddings embed(std::span<const TokenId> tokens, EmbedOptions = {}) const;

  /// How well each document answers the query, by a model that judges pairs of texts; more is better. One answer: its
  /// logit; several: the probability of "yes", or of the first. Throws Error{argument} for a model that judges nothing.
  std::vector<float> rerank(std::string_view query, std::span<const std::string_view> documents) const;

  const ModelInfo& info() const& noexcept;
  ModelInfo info() && { return info(); }
  void trim() const;  ///< gives pages back that no session uses (memory warnings)

 private:
  friend class Batch;
  friend class Chat;
  explicit Model(std::shared_ptr<const struct ModelState>) noexcept;
  std::shared_ptr<const struct ModelState> state_;
};

}  // namespace v0
}  // namespace inlay

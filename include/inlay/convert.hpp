// A model as its authors publish it, a folder of Hugging Face's transformers, written as the GGUF file that models load
// from.
#pragma once

#include <functional>
#include <string_view>

#include "inlay/error.hpp"

namespace inlay {
inline namespace v0 {

/// How matrices are stored. Vectors and norms are always f32.
enum class WeightType {
  source,  ///< as the folder has them: bf16 or f16; f16 where it has neither
  f32,
  f16,
  bf16,
  q8_0  ///< rows that are no multiple of 32 become f16
};

struct ConvertOptions {
  WeightType type = WeightType::source;
  std::function<bool(float done)> progress = {};  ///< from 0 to 1; return false to give up: Error{cancelled}
};

/// Writes the model in `folder` to the file `out`, one tensor at a time; both are UTF-8. The folder has config.json,
/// model.safetensors (or its parts and their index), a tokenizer (tokenizer.json or tokenizer.model) and, if the model
/// has one, a chat template. Known are the dense models of the families llama, mistral, smollm3, qwen2, qwen3, gemma,
/// gemma2, gemma3 (text), phi2 and phi3.
///
///     inlay::convert("Qwen3-0.6B", "qwen3-0.6b.gguf", {.type = inlay::WeightType::q8_0});
///
/// Throws Error{io, format, unsupported, cancelled}, naming the file, key or tensor; then `out` is as it was before.
/// What the folder says is checked: it may come from anywhere.
INLAY_API void convert(std::string_view folder, std::string_view out, const ConvertOptions& = {});

}  // namespace v0
}  // namespace inlay

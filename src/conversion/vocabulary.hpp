// A model's tokenizer as the keys tokenizer.ggml.*.
#pragma once

#include "conversion/family.hpp"
#include "conversion/folder.hpp"
#include "conversion/metadata.hpp"

namespace inlay::inline v0::conversion {

// Reads tokenizer.model where the family takes its pieces, else tokenizer.json with byte-level pairs.
void add_vocabulary(const Folder& folder, const Family& family, const Json& config, Metadata& metadata);

// The name that GGUF files have for the pre-tokenizer of a tokenizer.json, found by its expressions. Throws
// Error{unsupported} for those that are not known.
std::string pre_tokenizer_name(const Json& tokenizer);

}  // namespace inlay::inline v0::conversion

// Which tokens have a role (begin, end, padding, ...), which are added to every text, and the chat template.
#pragma once

#include <cstdint>

#include "conversion/folder.hpp"
#include "conversion/metadata.hpp"

namespace inlay::inline v0::conversion {

// Sets the keys from tokenizer_config.json, tokenizer.json, config.json and the files of chat templates. Ids from
// `vocabulary` on are left out.
void add_special_tokens(const Folder& folder, const Json& tokenizer, const Json& config, std::int64_t vocabulary,
                        Metadata& metadata);

}  // namespace inlay::inline v0::conversion

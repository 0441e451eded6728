// From a file and options to a model's state.
#pragma once

#include <string>
#include <vector>

#include "api/state.hpp"

namespace inlay {
inline namespace v0 {

// `path`: of the file; empty: it is in memory. Throws what Model::load says.
std::shared_ptr<const ModelState> load_state(gguf::File&& file, const LoadOptions& options,
                                             const std::string& path = {});
// The engines that would run a file, measured and not loaded; without heads, only one.
std::vector<base::Owned<runtime::Engine>> measured_engines(std::string_view path, const LoadOptions& options);

}  // namespace v0
}  // namespace inlay

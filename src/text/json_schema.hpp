// JSON schemas as grammars.
#pragma once

#include <string_view>

#include "inlay/grammar.hpp"
#include "text/automaton.hpp"

namespace inlay::text {

// The automaton of the JSON texts that are valid. Throws Error{argument}.
Automaton compile_json_schema(std::string_view schema, Unsupported unsupported);

}  // namespace inlay::text

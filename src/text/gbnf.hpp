// Grammars in GBNF, the notation of llama.cpp.
#pragma once

#include <string_view>

#include "text/automaton.hpp"

namespace inlay::text {

// The automaton of rule "root". Of two rules of one name the later counts. Throws Error{argument}.
Automaton compile_gbnf(std::string_view rules);

}  // namespace inlay::text

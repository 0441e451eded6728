// Given texts as alternatives that share their beginnings.
#pragma once

#include <string>
#include <vector>

#include "text/grammar_expression.hpp"

namespace inlay::text {

// Any one of the texts, which are valid UTF-8, leads from `from` to `to`.
void emit_texts(Automaton& automaton, Speller& speller, Spelling spelling, std::vector<std::string> texts, NodeId from,
                NodeId to);

}  // namespace inlay::text

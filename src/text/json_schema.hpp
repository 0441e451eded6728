// JSON schemas as grammars.
#pragma once

#include <string>
#include <string_view>

#include "inlay/grammar.hpp"
#include "text/automaton.hpp"

namespace inlay::text {

// The automaton of the JSON texts that are valid. Throws Error{argument}.
Automaton compile_json_schema(std::string_view schema, Unsupported unsupported);

// Texts that stand as they are instead of in quotes: they end where `end` follows, so that they do not contain it.
struct BareTexts {
  std::string end;
  bool loses_line_ends = false;  // whoever reads them drops a line end on either side
  bool may_be_json = true;       // otherwise what is JSON is not read as a text
};

// The automaton of the texts that are valid, without what follows them. Keywords that cannot be expressed are ignored.
Automaton compile_bare_texts(std::string_view schema, const BareTexts& how);

}  // namespace inlay::text

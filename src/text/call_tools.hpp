// The tools that a template is given, as far as their calls are concerned.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/grammar.hpp"
#include "text/automaton.hpp"

namespace inlay::text {

// What a value may be, for notations other than JSON.
struct CallValue {
  enum class Kind : std::uint8_t { any, text, json, list, object };
  Kind kind = Kind::any;
  std::string texts;                          // the schema of a text, or of anything; empty: it says nothing
  Grammar json;                               // numbers, booleans; and lists and objects where they are written as JSON
  std::vector<CallValue> element;             // of a list: one
  std::uint32_t least = 0, most = unbounded;  // elements of a list
  std::vector<struct CallParameter> members;  // of an object, in the schema's order; none: any members
};

struct CallParameter {
  std::string name;
  CallValue value;
  bool required = false;
};

struct CallTool {
  std::string name;
  Grammar arguments;  // as JSON
  CallValue value;    // the same for other notations
};

// Throws Error{argument}: no list of tools, or none has the name `only`.
std::vector<CallTool> parse_call_tools(std::string_view tools, std::string_view only);

}  // namespace inlay::text

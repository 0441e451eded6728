// JSON text into the values of a template.
#pragma once

#include <string_view>

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

// Every string gets `origin`. Throws Error{argument} that names `field` for what is not JSON or nested too deeply.
Value from_json(const Machine& machine, std::string_view json, Origin origin, std::string_view field);

// The same for a list of chat messages: what a message says comes from its role.
Value messages_from_json(const Machine& machine, std::string_view json);

}  // namespace inlay::text::jinja

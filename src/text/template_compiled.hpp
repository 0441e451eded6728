// What a chat template is compiled to.
#pragma once

#include <string>

#include "text/chat_template.hpp"
#include "text/jinja_ast.hpp"

namespace inlay::text {

struct CompiledTemplate {
  CompiledTemplate(std::string_view text, const TemplateLimits& limits);

  TemplateLimits limits;
  std::string source;
  jinja::Budget budget;
  mutable jinja::Arena arena;  // nothing is added to it after compiling
  jinja::Syntax syntax;
};

}  // namespace inlay::text

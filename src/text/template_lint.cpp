// Looks through a template for what is likely to be a mistake.
#include <algorithm>
#include <set>

#include "text/template_compiled.hpp"

namespace inlay::text {

std::vector<std::string> ChatTemplate::lint(const LintContext&) const { return {}; }

}  // namespace inlay::text

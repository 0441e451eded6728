// Binding the arguments of a call to the names of its parameters.
#include <algorithm>

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

Bound::Bound(std::string_view callee, const Arguments& arguments, std::initializer_list<std::string_view> parameters,
             std::size_t required)
    : callee_(callee) {
  const std::string name(callee);
  if (arguments.positional.size() > parameters.size()) fail(Trouble::type, name + " is given too many arguments");
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [parameter, value] : arguments.named) {
    const auto found = std::find(parameters.begin(), parameters.end(), parameter);
    if (found == parameters.end()) fail(Trouble::type, name + " has no parameter of a name that it is given");
    const Value*& slot = values_[found - parameters.begin()];
    if (slot) fail(Trouble::type, name + " is given the same argument twice");
    slot = &value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!values_[i]) fail(Trouble::type, name + " misses its argument '" + std::string(parameters.begin()[i]) + "'");
  }
}

std::int64_t Bound::whole(std::size_t parameter, std::int64_t standard) const {
  if (!has(parameter) || values_[parameter]->is(Type::none)) return standard;
  if (!values_[parameter]->is_whole()) fail(Trouble::type, std::string(callee_) + " takes an integer there");
  return values_[parameter]->whole();
}

bool Bound::truth(const Machine& machine, std::size_t parameter, bool standard) const {
  return has(parameter) ? machine.truth(*values_[parameter]) : standard;
}

TextRef Bound::text(std::size_t parameter) const {
  if (!values_[parameter]->is(Type::string)) {
    fail(values_[parameter]->is(Type::undefined) ? Trouble::undefined : Trouble::type,
         std::string(callee_) + " takes a string, not a value that is " + std::string(type_name(*values_[parameter])));
  }
  return values_[parameter]->text;
}

TextRef Bound::text_or_null(std::size_t parameter) const {
  return has(parameter) && !values_[parameter]->is(Type::none) ? text(parameter) : nullptr;
}

}  // namespace inlay::text::jinja

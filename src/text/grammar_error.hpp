// What can be wrong with a grammar, and the error that says so.
#pragma once

#include <string>
#include <utility>

#include "inlay/error.hpp"

namespace inlay::text {

enum class Flaw {
  syntax,
  encoding,
  undefined,
  left_recursion,
  cycle,
  limit,
  unsupported,
  bad_value,
  unsatisfiable,
  forbidden
};

inline Fault fault(Flaw flaw) {
  switch (flaw) {
    case Flaw::encoding: return Fault::bad_string;
    case Flaw::undefined: return Fault::missing_key;
    case Flaw::left_recursion:
    case Flaw::cycle:
    case Flaw::unsatisfiable: return Fault::inconsistent;
    case Flaw::limit: return Fault::limit;
    case Flaw::unsupported:
    case Flaw::forbidden: return Fault::unsupported;
    case Flaw::syntax:
    case Flaw::bad_value: return Fault::bad_value;
  }
  return Fault::none;
}

[[noreturn]] inline void refuse(Flaw flaw, const std::string& sentence, std::string where = {}) {
  throw Error(Errc::argument, sentence, fault(flaw), std::move(where));
}

}  // namespace inlay::text

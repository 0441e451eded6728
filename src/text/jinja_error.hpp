// What can go wrong with a template, and the error that says so.
#pragma once

#include <string>

#include "inlay/error.hpp"

namespace inlay::text::jinja {

enum class Trouble { syntax, limit, forbidden, unsupported, undefined, type, arithmetic, raised, encoding, input };

inline Error trouble(Trouble kind, const std::string& sentence, std::string where = {}) {
  switch (kind) {
    case Trouble::syntax: return {Errc::format, sentence, Fault::bad_value, std::move(where)};
    case Trouble::limit: return {Errc::format, sentence, Fault::limit, std::move(where)};
    case Trouble::forbidden: return {Errc::unsupported, sentence, Fault::inconsistent, std::move(where)};
    case Trouble::unsupported: return {Errc::unsupported, sentence, Fault::unsupported, std::move(where)};
    case Trouble::undefined: return {Errc::format, sentence, Fault::missing_key, std::move(where)};
    case Trouble::type: return {Errc::format, sentence, Fault::wrong_type, std::move(where)};
    case Trouble::arithmetic: return {Errc::format, sentence, Fault::overflow, std::move(where)};
    case Trouble::raised: return {Errc::argument, sentence, Fault::none, std::move(where)};
    case Trouble::encoding: return {Errc::format, sentence, Fault::bad_string, std::move(where)};
    case Trouble::input: return {Errc::argument, sentence, Fault::bad_value, std::move(where)};
  }
  return {Errc::format, sentence};
}

[[noreturn]] inline void fail(Trouble kind, const std::string& sentence) { throw trouble(kind, sentence); }

}  // namespace inlay::text::jinja

// Why something failed: a code for programs and one sentence for people.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "inlay/version.hpp"

namespace inlay {
inline namespace v0 {

/// Why something failed. The numbers are those of inlay_status in inlay.h.
enum class Errc { io = 1, format, unsupported, memory, device, argument, cancelled };

/// What is wrong with an input, finer than Errc::format; `none` for everything else.
// clang-format off
enum class Fault {
  none, truncated, bad_magic, bad_version, bad_endian, bad_count, bad_string, bad_type, bad_alignment, bad_dims, overflow,
  out_of_bounds, duplicate, missing_key, missing_tensor, wrong_type, bad_value, inconsistent, unsupported, limit
};
// clang-format on

/// Thrown by every function here that can fail, and by nothing else.
/// what() is one sentence that names the file, key or tensor at fault.
class INLAY_API Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& what, Fault fault = Fault::none, std::string where = {})
      : std::runtime_error(what), code_(code), fault_(fault), where_(std::move(where)) {}
  Errc code() const noexcept { return code_; }
  Fault fault() const noexcept { return fault_; }
  const std::string& where() const noexcept { return where_; }  ///< the key, tensor, field or line:column at fault

 private:
  Errc code_;
  Fault fault_;
  std::string where_;
};

}  // namespace v0
}  // namespace inlay

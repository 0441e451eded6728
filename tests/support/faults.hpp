// What manifests of malformed files call the faults.
#pragma once

#include <map>
#include <string>

#include "inlay/error.hpp"

namespace support {

inline std::string kind_of(inlay::Fault fault) {
  using inlay::Fault;
  static const std::map<Fault, std::string> kinds = {{Fault::none, "none"},
                                                     {Fault::truncated, "truncated"},
                                                     {Fault::bad_magic, "bad_magic"},
                                                     {Fault::bad_version, "bad_version"},
                                                     {Fault::bad_endian, "bad_endian"},
                                                     {Fault::bad_count, "bad_count"},
                                                     {Fault::bad_string, "bad_string"},
                                                     {Fault::bad_type, "bad_type"},
                                                     {Fault::bad_alignment, "bad_alignment"},
                                                     {Fault::bad_dims, "bad_dims"},
                                                     {Fault::overflow, "overflow"},
                                                     {Fault::out_of_bounds, "out_of_bounds"},
                                                     {Fault::duplicate, "duplicate"},
                                                     {Fault::missing_key, "missing_key"},
                                                     {Fault::missing_tensor, "missing_tensor"},
                                                     {Fault::wrong_type, "wrong_type"},
                                                     {Fault::bad_value, "bad_value"},
                                                     {Fault::inconsistent, "inconsistent"},
                                                     {Fault::unsupported, "unsupported"},
                                                     {Fault::limit, "limit"}};
  return kinds.at(fault);
}

}  // namespace support

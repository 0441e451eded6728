// What several tests of GGUF files need: a sink in memory, the fault of an error.
#pragma once

#include <span>
#include <string>

#include "gguf/write.hpp"
#include "inlay/gguf.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace gguf_test {

using support::Folder;

inline inlay::gguf::Writer::Sink into(std::string& out) {
  return [&out](std::span<const std::byte> bytes) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
}

inline std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

template <class Act>
inlay::Fault fault_of(const Act& act) {
  try {
    act();
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::format);
    return error.fault();
  }
  return inlay::Fault::none;
}

}  // namespace gguf_test

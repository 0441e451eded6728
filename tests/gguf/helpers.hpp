// What several tests of GGUF files need: a sink in memory, a folder on disk, the fault of an error.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>

#include "gguf/write.hpp"
#include "inlay/gguf.hpp"
#include "tests/support/catch.hpp"

namespace gguf_test {

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

// A folder of its own for each test, removed at its end.
struct Folder {
  std::filesystem::path path;
  Folder() {
    static std::atomic<int> number = 0;
    path = std::filesystem::temp_directory_path() /
           ("inlay_gguf_" + std::to_string(std::random_device{}()) + "_" + std::to_string(++number));
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return (path / name).string();
  }
};

}  // namespace gguf_test

// Proves that opening survives each allocation and each request to the system that fails, and leaves nothing behind.
#include <functional>
#include <new>
#include <string>
#include <system_error>

#include "gguf/parser.hpp"
#include "inlay/gguf.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/heap.hpp"

namespace {

using inlay::Errc;
using inlay::Error;
using inlay::gguf::File;
using inlay::gguf::OpenOptions;
using inlay::gguf::Parser;

std::string path_of(const char* name) { return (support::folders("malformed").front() / "gguf" / name).string(); }

enum class Ending { loaded, out_of_memory, other };

Ending open_ending(const std::string& path) {
  try {
    File::open(path);
    return Ending::loaded;
  } catch (const Error& error) {
    return error.code() == Errc::memory ? Ending::out_of_memory : Ending::other;
  } catch (const std::bad_alloc&) {  // where even the error finds no memory
    return Ending::out_of_memory;
  }
}

}  // namespace

TEST_CASE("each allocation of opening a file may fail") {
  const std::string path = path_of("valid_small.gguf");
  for (const bool for_ever : {false, true}) {
    std::size_t failures = 0;
    bool failed = true;
    while (failed) {
      const std::size_t before = heap::used();
      heap::fail_after(failures, for_ever);
      const Ending ending = open_ending(path);
      failed = heap::never_fail();
      REQUIRE(ending == (failed ? Ending::out_of_memory : Ending::loaded));
      REQUIRE(heap::used() == before);
      REQUIRE(open_ending(path) == Ending::loaded);
      ++failures;
    }
    CHECK(failures > 15);
  }
}

TEST_CASE("an allocation that fails once is an Error") {
  const std::string path = path_of("valid_small.gguf");
  heap::fail_after(5, false);
  try {
    File::open(path);
    FAIL("opened");
  } catch (const Error& error) {
    heap::never_fail();
    CHECK(error.code() == Errc::memory);
  }
}

TEST_CASE("each request to the system may fail") {
  for (const bool copy : {false, true}) {
    const OpenOptions options{.copy = copy};
    int requests = 0;
    Parser::open(path_of("valid_small.gguf"), options, [&] { ++requests; });
    CHECK(requests == (copy ? 4 : 3));
    for (int fail_at = 0; fail_at < requests; ++fail_at) {
      int left = fail_at;
      const auto probe = [&] {
        if (left-- == 0) throw std::system_error(std::make_error_code(std::errc::io_error));
      };
      try {
        Parser::open(path_of("valid_small.gguf"), options, probe);
        FAIL("opened");
      } catch (const Error& error) {
        CHECK(error.code() == Errc::io);
        CHECK(std::string(error.what()).find("valid_small.gguf") != std::string::npos);
      }
    }
  }
}

TEST_CASE("what is no readable file is an io error that names it") {
  const std::string folder = support::data().string();
  for (const std::string& path : {folder + "/no_such_file.gguf", folder, std::string(), std::string("a\0b", 3)}) {
    INFO(path);
    try {
      File::open(path);
      FAIL("opened");
    } catch (const Error& error) {
      CHECK(error.code() == Errc::io);
    }
  }
}

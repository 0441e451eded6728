// Proves: a file that is being replaced is the old or the new one, wherever the writer stops; checksums see every
// change.
#include "base/replacement.hpp"

#include <csignal>
#include <random>
#include <system_error>
#include <vector>

#include "base/checksum.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/folder.hpp"

#ifndef _WIN32
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using inlay::base::Checksum;
using inlay::base::Replacement;

std::string content(char filling) { return std::string(1 << 17, filling); }

void replace(const std::string& path, const std::string& with) {
  Replacement file(path);
  const auto bytes = std::as_bytes(std::span(with));
  for (std::size_t i = 0; i < bytes.size(); i += 4096)
    file.write(bytes.subspan(i, std::min<std::size_t>(4096, bytes.size() - i)));
  file.commit();
}

// A folder with one file in it.
struct Folder : support::Folder {
  Folder() { replace(file(), content('a')); }
  std::string file() const { return support::Folder::file("file"); }
};

TEST_CASE("a replacement that is not committed leaves the old file and nothing beside it") {
  const Folder folder;
  {
    Replacement file(folder.file());
    file.write(std::as_bytes(std::span("new")));
  }
  CHECK(support::read(folder.file()) == content('a'));
  CHECK(folder.files() == 1);
  replace(folder.file(), content('b'));
  CHECK(support::read(folder.file()) == content('b'));
  CHECK(folder.files() == 1);
}

#ifndef _WIN32

TEST_CASE("a writer that is killed at any of 200 moments leaves the old file or the new one") {
  const Folder folder;
  const auto a = content('a'), b = content('b');
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (;;) replace(folder.file(), b), replace(folder.file(), a);
    }
    ::usleep(random() % 3000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const auto found = support::read(folder.file());
    if (found != a && found != b) FAIL("the file is neither the old nor the new one");
  }
}

TEST_CASE("a disk that is full at any of 200 places leaves the old file and says so") {
  const Folder folder;
  const auto b = content('b');
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  for (rlim_t i = 0; i < 200; ++i) {
    const rlimit limit = {i * b.size() / 200, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::error_code code;
    try {
      replace(folder.file(), b);
    } catch (const std::system_error& error) {
      code = error.code();
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    REQUIRE(code == std::errc::file_too_large);
    REQUIRE(support::read(folder.file()) == content('a'));
    REQUIRE(folder.files() == 1);
  }
  std::signal(SIGXFSZ, old_handler);
}

#endif

TEST_CASE("a checksum does not depend on the pieces, and sees every flipped bit, swap and length") {
  std::mt19937 random(2);
  std::vector<std::byte> bytes(203);
  for (auto& byte : bytes) byte = std::byte(random());
  const auto sum = [](std::span<const std::byte> of) {
    Checksum checksum;
    checksum.add(of);
    return checksum.value();
  };
  const auto expected = sum(bytes);
  for (std::size_t piece = 1; piece < 20; ++piece) {
    Checksum checksum;
    for (std::size_t i = 0; i < bytes.size(); i += piece)
      checksum.add(std::span(bytes).subspan(i, std::min(piece, bytes.size() - i)));
    CHECK(checksum.value() == expected);
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto copy = bytes;
    copy[bit / 8] ^= std::byte(1 << (bit % 8));
    CHECK(sum(copy) != expected);
  }
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(sum(std::span(bytes).first(n)) != expected);
  auto longer = std::vector<std::byte>(16);
  CHECK(sum(std::span(longer).first(8)) != sum(longer));
}

}  // namespace

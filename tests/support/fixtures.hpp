// Where the test data lies, and how many cases of it ran.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace support {

// The folder `name` (for example "arch" or "malformed/gguf") of every set that is here: the compact one of the
// repository, tests/data/<name>, and the full one, <shared>/fixtures/<name>, where the build found it.
std::vector<std::filesystem::path> folders(std::string_view name);

// The full set's root; empty where it is absent.
std::filesystem::path shared();

std::filesystem::path data();  // tests/data of the repository
std::string read(const std::filesystem::path&);

// Adds to the count of `set` ("tokenizer", "chat", ...) that the summary line shows. Call once for each test case run.
void count(std::string_view set, std::size_t cases);

}  // namespace support

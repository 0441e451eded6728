// Test data: the compact set in the repository and the full set beside it.
#include "tests/support/fixtures.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace support {
namespace fs = std::filesystem;

fs::path data() { return INLAY_TEST_DATA; }
fs::path shared() { return INLAY_SHARED_DIR; }

std::vector<fs::path> folders(std::string_view name) {
  std::vector<fs::path> found;
  if (const auto compact = data() / name; fs::exists(compact)) found.push_back(compact);
  if (const auto full = shared() / "fixtures" / name; !shared().empty() && fs::exists(full)) found.push_back(full);
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

void count(std::string_view set, std::size_t cases) {
  fs::create_directories(INLAY_CASE_COUNTS);
  std::ofstream(fs::path(INLAY_CASE_COUNTS) / std::string(set), std::ios::app) << cases << '\n';
}

}  // namespace support

// Proves: a model whose numbers were changed in the file, of any architecture, is refused or runs, and nothing else.
#include <cstring>
#include <random>

#include "inlay/gguf.hpp"
#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

// Everything before the first tensor's data: the keys and the table of tensors.
std::size_t head_of(std::span<const std::byte> bytes) {
  const auto file = inlay::gguf::File::read(bytes);
  std::size_t head = bytes.size();
  for (const auto& tensor : file.tensors()) head = std::min(head, std::size_t(tensor.data.data() - bytes.data()));
  return head;
}

// One number of 4 or 8 bytes becomes another that is likely to matter.
void change(std::span<std::byte> head, std::mt19937_64& random) {
  constexpr std::uint64_t values[] = {0,          1,          2,          3,          31,         33,
                                      4096,       0x10000,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000 /* inf */,
                                      0x7FC00000, 0x80000001, 1ull << 32, 1ull << 62, ~0ull};
  const std::size_t width = random() % 4 ? 4 : 8;
  const std::size_t at = 24 + random() % (head.size() - 24 - width);
  std::uint64_t value = 0;
  std::memcpy(&value, head.data() + at, width);
  switch (random() % 8) {
    case 0: ++value; break;
    case 1: value *= 2; break;
    case 2: value /= 2; break;
    default: value = values[random() % std::size(values)];
  }
  std::memcpy(head.data() + at, &value, width);
}

// Whether it ran.
bool run(std::span<const std::byte> file) {
  try {
    const auto model = inlay::Model::load(file, {.threads = 1, .context = 64, .cache_bytes = std::size_t(64) << 20});
    const inlay::TokenId tokens[] = {0, 1};
    if (model.info().encoder) return !model.embed(tokens).values.empty();
    auto session = model.session();
    session.generate(tokens, inlay::Sampler::greedy(), {.tokens = 2}).text();
    return true;
  } catch (const inlay::Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("damaged models of every architecture are refused or run") {
  std::mt19937_64 random(20);
  int ran = 0, refused = 0;
  for (const auto& folder : support::folders("arch")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".gguf") continue;
      INFO(entry.path());
      const std::string text = support::read(entry.path());
      const std::span valid(reinterpret_cast<const std::byte*>(text.data()), text.size());
      const std::size_t head = head_of(valid);
      for (int copy = 0; copy < 100; ++copy) {
        std::vector<std::byte> damaged(valid.begin(), valid.end());
        for (auto changes = 1 + random() % 3; changes > 0; --changes) change(std::span(damaged).first(head), random);
        ++(run(damaged) ? ran : refused);
      }
    }
  }
  CHECK(ran > 0);
  CHECK(refused > 0);
}

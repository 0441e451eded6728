// Proves: blocks that predict tokens after the next one are left out, whatever they hold.
#include <fstream>

#include "gguf/write.hpp"
#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/folder.hpp"

namespace {

// The fixture with as many of its blocks said to be layers, and as many to predict later tokens.
std::vector<float> logits(std::uint32_t blocks, std::uint32_t later) {
  const auto file = inlay::gguf::File::open((support::data() / "arch" / "llama.gguf").string());
  const support::Folder folder;
  const auto path = folder.file("model.gguf");
  std::ofstream stream(path, std::ios::binary);
  inlay::gguf::Writer writer([&](std::span<const std::byte> bytes) {
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  });
  for (const auto& key : file.keys())
    if (key.name != "llama.block_count") writer.copy(key);
  writer.key("llama.block_count", blocks);
  writer.key("llama.nextn_predict_layers", later);
  for (const auto& tensor : file.tensors()) writer.tensor(tensor.name, inlay::gguf::Type(tensor.type), tensor.shape);
  for (const auto& tensor : file.tensors()) writer.data(tensor.data);
  writer.finish();
  stream.close();
  const auto model = inlay::Model::load(path, {.threads = 1});
  auto session = model.session();
  return session.evaluate(std::vector<int>{5, 9, 7});
}

TEST_CASE("blocks that predict later tokens take no part") {
  CHECK(logits(3, 1) == logits(2, 0));
  CHECK(logits(3, 2) == logits(1, 0));
  CHECK(logits(3, 0) != logits(2, 0));
  CHECK_THROWS_AS(logits(3, 3), inlay::Error);
}

}  // namespace

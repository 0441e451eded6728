// What only shows what another holds cannot be taken from a temporary.
#include "inlay/gguf.hpp"
#include "inlay/inlay.hpp"

std::vector<std::byte> read(const char* path);

void tokens(const inlay::Model& model) {
#if WRONG == 1
  const auto seen = model.session().tokens();
#else
  const auto session = model.session();
  const auto seen = session.tokens();
#endif
  static_cast<void>(seen);
}

void generation(inlay::Session& session) {
#if WRONG == 2
  const auto first = session.generate("Hello").begin();
#elif WRONG == 3
  const auto& seen = session.generate("Hello").stats();
#else
  auto generation = session.generate("Hello");
  const auto first = generation.begin();
  const auto& seen = generation.stats();
  static_cast<void>(first);
  static_cast<void>(seen);
#endif
}

void row(const inlay::Model& model) {
#if WRONG == 4
  const auto first = model.embed("Hello")[0];
#else
  const auto rows = model.embed("Hello");
  const auto first = rows[0];
#endif
  static_cast<void>(first);
}

void load(const char* path) {
#if WRONG == 5
  static_cast<void>(inlay::Model::load(read(path)));
#elif WRONG == 6
  static_cast<void>(inlay::gguf::File::read(read(path)));
#else
  const auto bytes = read(path);
  static_cast<void>(inlay::Model::load(bytes));
  static_cast<void>(inlay::gguf::File::read(bytes));
#endif
}

void file(const char* path) {
#if WRONG == 7
  const auto keys = inlay::gguf::File::open(path).keys();
#elif WRONG == 8
  const auto tensors = inlay::gguf::File::open(path).tensors();
#elif WRONG == 9
  const auto* value = inlay::gguf::File::open(path).find("general.name");
#elif WRONG == 10
  const auto* tensor = inlay::gguf::File::open(path).tensor("output.weight");
#elif WRONG == 11
  const auto name = inlay::gguf::File::open(path).text("general.name");
#elif WRONG == 12
  const auto name = inlay::gguf::File::open(path).text("general.name", "none");
#else
  const auto file = inlay::gguf::File::open(path);
  const auto name = file.text("general.name", "none");
  static_cast<void>(name);
#endif
}

std::string name(const char* path) { return inlay::Model::load(path).info().name; }  // a copy: nothing dangles

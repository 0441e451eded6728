// Pre-tokenizers cut as Hugging Face's do, and take linear time and little stack on a long run of anything.
#include <pthread.h>

#include <nlohmann/json.hpp>

#include "inlay/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "text/split.hpp"
#include "text/unicode.hpp"

namespace {

using namespace inlay;
using nlohmann::json;

std::vector<std::size_t> lengths(const text::Splitter& splitter, std::string_view text) {
  std::vector<std::size_t> out;
  std::size_t begin = 0;
  for (const std::size_t end : splitter.split(text)) {
    out.push_back(end - begin);
    begin = end;
  }
  return out;
}

json split_cases() { return json::parse(support::read(support::data() / "tokenizer/splits.json")); }

std::string repeated(std::string_view unit, std::size_t size) {
  std::string text;
  while (text.size() < size) text += unit;
  return text;
}

std::vector<std::string> long_texts() {
  std::vector<std::string> texts;
  for (const char* unit :
       {"a", "A", "aB", "1", " ", "\n", "\r\n", ".", "'s", "\u0301", "\u4E00", "a ", " \n", "1a", " 1"})
    texts.push_back(repeated(unit, 1 << 18));
  std::string noise;
  for (std::uint32_t state = 1; noise.size() < 1 << 18; state = state * 1664525 + 1013904223)
    noise += static_cast<char>(state >> 24);
  texts.emplace_back(text::to_valid_utf8(noise));
  texts.push_back(repeated(" ", 1 << 18) + "x");
  texts.push_back(repeated("7", 1 << 18) + "x");
  return texts;
}

// Runs on a thread whose stack has 64 KiB.
template <class Run>
void on_small_stack(Run run) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
  pthread_t thread;
  const auto entry = [](void* it) -> void* { return (*static_cast<Run*>(it))(), nullptr; };
  REQUIRE(pthread_create(&thread, &attributes, entry, &run) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("every pre-tokenizer cuts as its published expressions do") {
  const json cases = split_cases();
  for (const auto& [name, expected] : cases.at("lengths").items()) {
    const text::Splitter splitter(text::pre_tokenizer_named(name));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto text = cases.at("texts").at(i).get<std::string>();
      INFO(name << ": " << text);
      CHECK(lengths(splitter, text) == expected.at(i).get<std::vector<std::size_t>>());
    }
    support::count("tokenizer", expected.size());
  }
}

TEST_CASE("long runs are cut in linear time on a small stack, and nothing is lost") {
  const json cases = split_cases();
  const auto texts = long_texts();
  for (const auto& [name, expected] : cases.at("lengths").items()) {
    INFO(name);
    const text::Splitter splitter(text::pre_tokenizer_named(name));
    std::size_t whole = 0;
    on_small_stack([&] {
      for (const std::string& text : texts) whole += splitter.split(text).back() == text.size();
    });
    CHECK(whole == texts.size());
  }
}

TEST_CASE("a pre-tokenizer without a known name is refused") {
  CHECK_THROWS_AS(text::pre_tokenizer_named("gpt-22"), Error);
  CHECK_THROWS_AS(text::pre_tokenizer_named(""), Error);
}

// What files say of single tokens.
#include "conversion/tokens.hpp"

#include <fmt/format.h>

namespace inlay::inline v0::conversion {

Tokens::Tokens(std::uint32_t count) : scores(count, -10000.0f), types(count, unused) {
  for (std::uint32_t i = 0; i < count; ++i) texts.push_back(fmt::format("[PAD{}]", i));
}

std::uint32_t vocabulary_size(const Json& config, std::size_t otherwise) {
  const auto size = Settings("config.json", config).count("vocab_size", static_cast<std::uint32_t>(otherwise));
  if (size == 0 || size > most_tokens) {
    throw Error(Errc::format, fmt::format("config.json: a vocabulary of {} tokens", size), Fault::limit, "vocab_size");
  }
  return size;
}

std::optional<std::size_t> id_of(const Json* value, std::size_t count, std::string_view file) {
  const auto* id = value ? value->as<std::int64_t>() : nullptr;
  if (!id || *id < 0) {
    throw Error(Errc::format, fmt::format("{} has a token without a valid id", file), Fault::bad_value,
                std::string(file));
  }
  if (static_cast<std::uint64_t>(*id) >= count) return std::nullopt;
  return static_cast<std::size_t>(*id);
}

bool looks_special(std::string_view text) {
  if (text == "<pad>" || text == "<mask>" || text == "<2mass>" || text == "[@BOS@]") return true;
  return (text.starts_with("<|") && text.ends_with("|>")) || (text.starts_with("<｜") && text.ends_with("｜>")) ||
         (text.starts_with("<unused") && text.ends_with(">"));
}

std::string with_spaces(std::string_view text) {
  constexpr std::string_view mark = "▁";
  std::string spaced;
  while (!text.empty()) {
    const bool marked = text.starts_with(mark);
    spaced += marked ? ' ' : text.front();
    text.remove_prefix(marked ? mark.size() : 1);
  }
  return spaced;
}

bool is_special(const Json& token) {
  const Json* special = token.find("special");
  return special && special->as<bool>() && *special->as<bool>();
}

std::string_view content_of(const Json& token) {
  const Json* content = token.find("content");
  return content ? content->text() : std::string_view();
}

std::size_t id_in(const Json* value, std::size_t count) {
  if (const auto id = id_of(value, count, "tokenizer.json")) return *id;
  throw Error(Errc::format, "tokenizer.json has more tokens than \"vocab_size\" in config.json", Fault::inconsistent,
              "vocab_size");
}

}  // namespace inlay::inline v0::conversion

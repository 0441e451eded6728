#include "text/character_map.hpp"

#include <algorithm>

namespace inlay::text {
namespace {

const char* const key = "tokenizer.ggml.precompiled_charsmap";

// A unit of the double array.
constexpr std::uint32_t base(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }
constexpr std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
constexpr bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
constexpr std::uint32_t value(std::uint32_t unit) { return unit & 0x7FFFFFFF; }

constexpr std::size_t longest_match = 256;  // bytes; a crafted map could make every search run to the text's end

}  // namespace

CharacterMap::CharacterMap(const gguf::Value& blob, std::pmr::memory_resource* memory) : CharacterMap(memory) {
  const auto element = blob.element_type();
  if (blob.type() != gguf::ValueType::array || (element != gguf::ValueType::i8 && element != gguf::ValueType::u8))
    throw Error(Errc::format, std::string(key) + " is not an array of bytes", Fault::wrong_type, key);
  if (blob.size() == 0) return;
  std::string bytes(blob.size(), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(blob.integer(i).value_or(0));
  const auto word = [&](std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return number;
  };
  const std::size_t trie = bytes.size() < 4 ? 0 : word(0);
  if (trie == 0 || trie % 4 != 0 || trie > bytes.size() - 4)
    throw Error(Errc::format, std::string(key) + " has a table that does not fit in it", Fault::bad_value, key);
  for (std::size_t at = 4; at < 4 + trie; at += 4) units_.push_back(word(at));
  replacements_ = bytes.substr(4 + trie);
}

std::optional<CharacterMap::Match> CharacterMap::longest(std::string_view text) const {
  std::optional<Match> best;
  if (units_.empty()) return best;
  std::uint32_t node = base(units_[0]);
  for (std::size_t i = 0; i < std::min(text.size(), longest_match); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || label(units_[node]) != byte) break;
    const bool leaf = has_leaf(units_[node]);
    node ^= base(units_[node]);
    if (node >= units_.size()) break;
    if (!leaf) continue;
    if (const auto found = replacement(value(units_[node]))) best = Match{i + 1, *found};
  }
  return best;
}

std::optional<std::string_view> CharacterMap::replacement(std::uint32_t offset) const {
  const std::size_t end = replacements_.find('\0', offset);
  if (offset >= replacements_.size() || end == replacements_.npos) return std::nullopt;
  return std::string_view(replacements_).substr(offset, end - offset);
}

}  // namespace inlay::text

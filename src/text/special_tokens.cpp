#include "text/special_tokens.hpp"

#include <algorithm>

namespace inlay::text {
namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Files do not say which tokens swallow white space; for these models it is known.
TokenId swallowing_mask(const Vocabulary& vocabulary) {
  const std::string_view pre = vocabulary.pre, architecture = vocabulary.file.text("general.architecture", "");
  std::string_view text;
  if (pre == "jina-v2-de" || pre == "jina-v2-es" || pre == "jina-v2-code") text = "<mask>";
  if (architecture == "nomic-bert-moe" || architecture == "jina-bert-v3") text = "<mask>";
  if (pre == "modern-bert") text = "[MASK]";
  return vocabulary.table.find(text).value_or(-1);
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), tokens_(PrefixIndex::Entries(vocabulary.memory)), mask_(swallowing_mask(vocabulary)) {
  PrefixIndex::Entries entries(vocabulary.memory);
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.is_special(id) || vocabulary.text(id).empty()) continue;
    entries.push_back({vocabulary.text(id), id});
    starts_[static_cast<unsigned char>(vocabulary.text(id).front())] = true;
  }
  tokens_ = PrefixIndex(std::move(entries));
  const std::string name = lower_ascii(vocabulary.file.text("general.name", ""));
  is_phi3_ = name.find("phi-3") != name.npos || name.find("phi3") != name.npos;
}

bool SpecialTokens::swallows_right(TokenId id) const {
  const std::string_view text = vocabulary_.text(id);
  return is_phi3_ && text != "<unk>" && text != "<s>" && text != "<|endoftext|>";
}

PrefixIndex::Entry SpecialTokens::longest(std::string_view text, std::size_t parsed) const {
  PrefixIndex::Entry best;
  tokens_.for_each(text, [&](const PrefixIndex::Entry& entry) {
    if (entry.text.size() <= parsed || vocabulary_.type(entry.id) == TokenType::user_defined) best = entry;
  });
  return best;
}

std::pmr::vector<SpecialTokens::Fragment> SpecialTokens::partition(std::string_view text,
                                                                   std::span<const Range> parsed) const {
  std::pmr::vector<Fragment> fragments(vocabulary_.memory);
  std::size_t raw = 0, at = 0;
  while (at < text.size()) {
    while (!parsed.empty() && parsed.front().end <= at) parsed = parsed.subspan(1);
    PrefixIndex::Entry token;
    if (starts_[static_cast<unsigned char>(text[at])]) {
      const bool inside = !parsed.empty() && parsed.front().begin <= at;
      token = longest(text.substr(at), inside ? parsed.front().end - at : 0);
    }
    if (token.text.empty()) {
      ++at;
      continue;
    }
    std::string_view before = text.substr(raw, at - raw);
    if (swallows_left(token.id)) before = before.substr(0, before.find_last_not_of(white_space) + 1);
    fragments.push_back({before, token.id});
    at += token.text.size();
    if (swallows_right(token.id)) at = std::min(text.find_first_not_of(white_space, at), text.size());
    raw = at;
  }
  fragments.push_back({text.substr(raw), -1});
  return fragments;
}

}  // namespace inlay::text

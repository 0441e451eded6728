// Strings of a schema: lengths, patterns and formats, alone or together.
#include <fmt/format.h>

#include <algorithm>

#include "text/json_schema_compiler.hpp"
#include "text/json_schema_formats.hpp"
#include "text/regex.hpp"

namespace inlay::text {
namespace {

// Characters of the content of any JSON string, escaped in every way that JSON has.
void emit_any_character(Automaton& out, Speller& speller, NodeId from, NodeId to) {
  speller.spell(Spelling::json, CharSet::any(), from, to);
  const NodeId escape = out.add_node(), digits = out.add_node();
  out.add_byte(from, '\\', '\\', escape);
  out.add_byte(escape, 'u', 'u', digits);
  speller.hexadecimal(0x20, 0x7E, digits, to);
}

}  // namespace

StringFacts SchemaCompiler::string_facts(const Parts& parts) {
  StringFacts facts;
  for (const Part& part : parts) {
    if (part.role == Part::Role::plain && part.value->is(JsonValue::Kind::object)) add_string_facts(*part.value, facts);
    if (part.role == Part::Role::plain && part.value->is(JsonValue::Kind::boolean)) facts.impossible = true;
    if (part.role == Part::Role::other_pattern) {
      facts.others.push_back(parse_regex(part.value->text, Match::search, expressions_, document_.place(*part.value)));
    } else if (part.role == Part::Role::other_format) {
      facts.others.push_back(format_expression(*part.value, part.value->text));
    } else if (part.role == Part::Role::other_values) {
      for (const JsonValue& value : part.value->items)
        if (value.is(JsonValue::Kind::string)) facts.others.push_back(expressions_.text(value.text));
    }
    if (part.role != Part::Role::equal) continue;
    facts.impossible = facts.impossible || (facts.exactly && *facts.exactly != part.value->text);
    facts.exactly = part.value->text;
  }
  facts.impossible = facts.impossible || facts.least > facts.most;
  return facts;
}

void SchemaCompiler::add_string_facts(const JsonValue& schema, StringFacts& facts) {
  facts.least = std::max(facts.least, document_.count(schema, "minLength").value_or(0));
  facts.most = std::min<std::uint64_t>(facts.most, document_.count(schema, "maxLength").value_or(unbounded));
  if (const JsonValue* pattern = document_.string(schema, "pattern")) {
    facts.patterns.push_back(
        parse_regex(pattern->text, Match::search, expressions_, document_.place(schema, "pattern")));
  }
  const JsonValue* format = document_.string(schema, "format");
  if (!format) return;
  if (format_pattern(format->text)) {
    facts.patterns.push_back(format_expression(schema, format->text));
  } else {
    const bool narrow = narrow_format_pattern(format->text).has_value();
    const std::string_view why = narrow ? "cannot be checked by a grammar in full" : "is not known";
    document_.cannot(schema, "format", fmt::format("'{}' {}", format->text.substr(0, 80), why));
    if (narrow) facts.patterns.push_back(format_expression(schema, format->text));
  }
}

ExpressionId SchemaCompiler::format_expression(const JsonValue& schema, const std::string& format) {
  const auto [at, added] = formats_.try_emplace(format, no_id);
  if (!added) return at->second;
  const auto whole = format_pattern(format), pattern = whole ? whole : narrow_format_pattern(format);
  return at->second = parse_regex(*pattern, Match::whole, expressions_, document_.place(schema, "format"));
}

void SchemaCompiler::emit_string(const StringFacts& facts, NodeId from, NodeId to) {
  if (facts.impossible) return;
  if (bare_) return emit_bare(facts, from, to);
  const bool any =
      facts.patterns.empty() && facts.others.empty() && !facts.exactly && facts.least == 0 && facts.most == unbounded;
  if (any) return emit_any_string(from, to);
  const NodeId end = out_.add_node();
  emit_content(facts, after_byte(from, '"'), end);
  byte(end, '"', to);
}

void SchemaCompiler::emit_any_string(NodeId from, NodeId to) {
  if (any_string_ == no_id) {
    any_string_ = out_.add_rule("a string");
    const NodeId content = after_byte(out_.rule(any_string_).entry, '"');
    emit_any_character(out_, speller_, content, content);
    byte(content, '"', out_.rule(any_string_).exit);
  }
  out_.add_call(from, any_string_, to);
}

void SchemaCompiler::emit_content(const StringFacts& facts, NodeId from, NodeId to) {
  if (facts.patterns.empty() && facts.others.empty() && !facts.exactly) {
    if (any_character_ == no_id) {
      any_character_ = out_.add_rule("a character");
      emit_any_character(out_, speller_, out_.rule(any_character_).entry, out_.rule(any_character_).exit);
    }
    const auto least = static_cast<std::uint32_t>(facts.least), most = static_cast<std::uint32_t>(facts.most);
    return out_.add_repeat(from, any_character_, least, most, to);
  }
  std::vector<ExpressionId> all = machines(facts);
  if (all.size() == 1 && facts.others.empty())
    return Emitter(out_, speller_, expressions_, Spelling::json).emit(all[0], from, to);
  const std::uint64_t every = (std::uint64_t{1} << all.size()) - 1;
  add_others(facts, all);
  TextSet(expressions_, all, [&](std::uint64_t matched) {
    return matched == every;
  }).emit(out_, speller_, Spelling::json, from, to);
}

// Expressions that must all match. A length that the others imply is left out.
std::vector<ExpressionId> SchemaCompiler::machines(const StringFacts& facts) {
  std::vector<ExpressionId> out = facts.patterns;
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (facts.exactly) out.push_back(expressions_.text(*facts.exactly));
  const bool implied = std::ranges::any_of(out, [&](ExpressionId id) {
    const Lengths have = lengths(expressions_, id);
    return have.least >= facts.least && (facts.most == unbounded || have.most <= facts.most);
  });
  if (!implied) {
    const ExpressionId any = expressions_.chars(CharSet::any());
    out.push_back(
        expressions_.repeat(any, static_cast<std::uint32_t>(facts.least), static_cast<std::uint32_t>(facts.most)));
  }
  if (out.size() > 60) refuse(Flaw::limit, "a string of the schema has too many patterns");
  return out;
}

// Expressions of which none may match.
void SchemaCompiler::add_others(const StringFacts& facts, std::vector<ExpressionId>& all) {
  if (!facts.others.empty()) all.push_back(expressions_.choice(facts.others));
}

// All that the schema asks for, and nothing that would be read as something else.
void SchemaCompiler::emit_bare(const StringFacts& facts, NodeId from, NodeId to) {
  constexpr std::uint64_t most_written = 128;  // characters whose number is a state
  const std::uint64_t counted = facts.most == unbounded ? facts.least : facts.most;
  if (facts.patterns.empty() && facts.others.empty() && !facts.exactly && bare_->may_be_json && counted > most_written)
    return emit_long_bare(facts, from, to);
  std::vector<ExpressionId> all = machines(facts);
  const std::uint64_t wanted = (std::uint64_t{1} << all.size()) - 1;
  add_others(facts, all);
  const auto forbid = [&](const std::string& pattern, Match match) {
    all.push_back(parse_regex(pattern, match, expressions_, {}));
  };
  const ExpressionId any = expressions_.repeat(expressions_.chars(CharSet::any()), 0, unbounded);
  all.push_back(expressions_.sequence(std::vector{any, expressions_.text(bare_->end), any}));
  if (bare_->loses_line_ends) forbid("^\\n", Match::search), forbid("\\n$", Match::search);
  if (!bare_->may_be_json) forbid("^[ \\n\\r\\t0-9\"{\\[-]|^(?:true|false|null)[ \\n\\r\\t]*$", Match::search);
  TextSet(expressions_, all, [&](std::uint64_t matched) {
    return matched == wanted;
  }).emit(out_, speller_, Spelling::utf8, from, to);
}

// Many characters are counted, and a counter cannot look for what ends the text: its first character is left out.
void SchemaCompiler::emit_long_bare(const StringFacts& facts, NodeId from, NodeId to) {
  const CharSet inner = CharSet::any().without(CharSet(static_cast<unsigned char>(bare_->end.front())));
  const ExpressionId outer = expressions_.chars(bare_->loses_line_ends ? inner.without(CharSet(U'\n')) : inner);
  const auto least = static_cast<std::uint32_t>(std::max<std::uint64_t>(facts.least, 2) - 2);
  const auto most = facts.most == unbounded ? unbounded : static_cast<std::uint32_t>(facts.most - 2);
  std::vector<ExpressionId> forms{
      expressions_.sequence(std::vector{outer, expressions_.repeat(expressions_.chars(inner), least, most), outer})};
  if (facts.least <= 1) forms.push_back(outer);
  if (facts.least == 0) forms.push_back(expressions_.empty());
  Emitter(out_, speller_, expressions_, Spelling::utf8).emit(expressions_.choice(forms), from, to);
}

void SchemaCompiler::emit_quoted(const std::string& text, NodeId from, NodeId to) {
  const NodeId end = out_.add_node();
  Emitter(out_, speller_, expressions_, Spelling::json).emit(expressions_.text(text), after_byte(from, '"'), end);
  byte(end, '"', to);
}

}  // namespace inlay::text

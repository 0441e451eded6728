// The door's grammars: each compiler makes an automaton, and a Grammar shares it.
#include "inlay/grammar.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/utf8.hpp"
#include "text/gbnf.hpp"
#include "text/grammar_error.hpp"
#include "text/grammar_expression.hpp"
#include "text/grammar_rules.hpp"
#include "text/grammar_state.hpp"
#include "text/grammar_texts.hpp"
#include "text/json_schema.hpp"
#include "text/regex.hpp"

namespace inlay {
inline namespace v0 {

Grammar Grammar::json() { return json_schema("true"); }

Grammar Grammar::json_schema(std::string_view schema, Unsupported unsupported) {
  return Grammar(std::make_shared<GrammarRules>(text::compile_json_schema(schema, unsupported)));
}

Grammar Grammar::regex(std::string_view pattern) {
  text::Expressions expressions;
  const text::ExpressionId body = text::parse_regex(pattern, text::Match::whole, expressions, {});
  text::Automaton automaton;
  text::Speller speller(automaton);
  const text::RuleId root = automaton.add_rule("pattern");
  text::Emitter(automaton, speller, expressions, text::Spelling::utf8)
      .emit(body, automaton.rule(root).entry, automaton.rule(root).exit);
  automaton.finish(root);
  return Grammar(std::make_shared<GrammarRules>(std::move(automaton)));
}

Grammar Grammar::choice(std::span<const std::string_view> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!base::is_utf8(texts[i])) text::refuse(text::Flaw::encoding, fmt::format("choice {} is not valid UTF-8", i));
  }
  text::Automaton automaton;
  text::Speller speller(automaton);
  const text::RuleId root = automaton.add_rule("choice");
  text::emit_texts(automaton, speller, text::Spelling::utf8, {texts.begin(), texts.end()}, automaton.rule(root).entry,
                   automaton.rule(root).exit);
  automaton.finish(root);
  return Grammar(std::make_shared<GrammarRules>(std::move(automaton)));
}

Grammar Grammar::gbnf(std::string_view rules) {
  return Grammar(std::make_shared<GrammarRules>(text::compile_gbnf(rules)));
}

Match Grammar::match(std::string_view text) const {
  if (!rules_) return Match::whole;
  text::GrammarState state(*this);
  if (!state.accept(text)) return Match::none;
  return state.complete() ? Match::whole : Match::prefix;
}

}  // namespace v0
}  // namespace inlay

// The grammar of statements.
#include "text/jinja_parser.hpp"

#include <algorithm>
#include <array>

#include "text/jinja_target_parser.hpp"

namespace inlay::text::jinja {
namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::array<std::string_view, 10> tags_not_offered = {
    "autoescape", "block", "do", "extends", "from", "import", "include", "pluralize", "trans", "debug"};

class Parser : private TargetParser {
 public:
  using TargetParser::TargetParser;

  Syntax parse() {
    const Block body = block({});
    return {body, arena_.copy(names_), arena_.copy(remarks_)};
  }

 private:
  // Statements up to a tag of one of the names in `ends`, which stays the token at hand; up to the end where there are
  // none.
  Block block(Words ends);
  // Closes the tag at hand, reads a body, and leaves the name that ended it as the token at hand.
  Block body(Words ends);
  Block body_to(std::string_view end);
  StatementRef statement();
  StatementRef print();
  StatementRef condition();
  StatementRef loop();
  StatementRef set();
  StatementRef macro();
  StatementRef call_block();
  StatementRef with();
  StatementRef filter_block();
  StatementRef leave(Statement::Kind kind);
  void macro_body(Macro& macro, std::string_view end);

  Statement head(Statement::Kind kind) const { return {kind, token_.offset}; }

  int loops_ = 0;
};

Block Parser::block(Words ends) {
  std::vector<StatementRef> statements;
  while (token_.kind != Token::Kind::end) {
    if (token_.kind == Token::Kind::text) {
      statements.push_back(arena_.make<TextStatement>(head(Statement::Kind::text), view(token_.text)));
      advance();
    } else if (token_.kind == Token::Kind::print_begin) {
      statements.push_back(print());
    } else {
      expect(Token::Kind::block_begin, "a tag");
      if (token_.kind != Token::Kind::name) fail_here(Trouble::syntax, "expected the name of a tag");
      if (std::find(ends.begin(), ends.end(), token_.text) != ends.end()) return arena_.copy(statements);
      statements.push_back(statement());
      expect(Token::Kind::block_end, "the end of the tag");
    }
  }
  if (ends.size() > 0) {
    fail_here(Trouble::syntax, "expected the tag '" + std::string(ends.begin()[0]) + "' before the end");
  }
  return arena_.copy(statements);
}

Block Parser::body(Words ends) {
  const Level level(*this);
  take_symbol(":");
  expect(Token::Kind::block_end, "the end of the tag");
  return block(ends);
}

Block Parser::body_to(std::string_view end) {
  const Block statements = body({end});
  expect_name(end);
  return statements;
}

StatementRef Parser::statement() {
  if (token_.is_name("if")) return condition();
  if (token_.is_name("for")) return loop();
  if (token_.is_name("set")) return set();
  if (token_.is_name("macro")) return macro();
  if (token_.is_name("call")) return call_block();
  if (token_.is_name("with")) return with();
  if (token_.is_name("filter")) return filter_block();
  if (token_.is_name("break")) return leave(Statement::Kind::leave_loop);
  if (token_.is_name("continue")) return leave(Statement::Kind::next_item);
  if (token_.is_name("generation")) {
    const Statement start = head(Statement::Kind::scoped);
    advance();
    return arena_.make<ScopedBlock>(start, body_to("endgeneration"));
  }
  const bool is_known =
      std::find(tags_not_offered.begin(), tags_not_offered.end(), token_.text) != tags_not_offered.end();
  if (is_known) {
    fail_here(Trouble::unsupported, "the tag '" + std::string(token_.text) + "' is not offered to chat templates");
  }
  fail_here(Trouble::syntax, "there is no tag '" + std::string(token_.text.substr(0, 40)) + "' here");
}

StatementRef Parser::print() {
  const Statement start = head(Statement::Kind::print);
  advance();
  const ExpressionRef value = expression_list(true);
  expect(Token::Kind::print_end, "'}}'");
  return arena_.make<Print>(start, value);
}

StatementRef Parser::condition() {
  const Statement start = head(Statement::Kind::condition);
  std::vector<Branch> branches;
  Block otherwise;
  do {
    advance();
    const ExpressionRef condition = expression_list(false);
    branches.push_back({condition, body({"elif", "else", "endif"})});
  } while (token_.is_name("elif"));
  if (take_name("else")) otherwise = body({"endif"});
  expect_name("endif");
  return arena_.make<Condition>(start, arena_.copy(branches), otherwise);
}

StatementRef Parser::loop() {
  const Statement start = head(Statement::Kind::loop);
  advance();
  const Target items_to = target(false);
  expect_name("in");
  const ExpressionRef items = expression_list(false, "recursive");
  const ExpressionRef filter = take_name("if") ? expression() : nullptr;
  const bool recursive = take_name("recursive");
  ++loops_;
  const Block each = body({"endfor", "else"});
  --loops_;
  Block otherwise;
  if (take_name("else")) otherwise = body({"endfor"});
  expect_name("endfor");
  return arena_.make<Loop>(start, items_to, items, filter, recursive, each, otherwise);
}

StatementRef Parser::set() {
  Statement start = head(Statement::Kind::set);
  advance();
  const Target to = target(true);
  if (take_symbol("=")) return arena_.make<Set>(start, to, expression_list(true));
  start.kind = Statement::Kind::set_block;
  const Links links = filters(false);
  return arena_.make<SetBlock>(start, to, links, body_to("endset"));
}

void Parser::macro_body(Macro& macro, std::string_view end) {
  const std::size_t varargs = uses("varargs"), kwargs = uses("kwargs"), caller = uses("caller");
  const int loops = std::exchange(loops_, 0);
  macro.body = body_to(end);
  loops_ = loops;
  macro.takes_more_positional = uses("varargs") > varargs;
  macro.takes_more_named = uses("kwargs") > kwargs;
  macro.takes_caller = uses("caller") > caller;
}

StatementRef Parser::macro() {
  auto* made = arena_.make<Macro>(head(Statement::Kind::macro));
  advance();
  made->id = name_id(expect_any_name());
  signature(*made);
  macro_body(*made, "endmacro");
  return made;
}

StatementRef Parser::call_block() {
  const Statement start = head(Statement::Kind::call_block);
  auto* caller = arena_.make<Macro>(head(Statement::Kind::macro));
  advance();
  caller->id = name_id("caller");
  if (token_.is_symbol("(")) signature(*caller);
  const ExpressionRef call = expression();
  const bool is_call = call->kind == Expression::Kind::postfix &&
                       static_cast<const Postfix*>(call)->links.back().kind == Link::Kind::call;
  if (!is_call) fail_here(Trouble::syntax, "expected a call");
  macro_body(*caller, "endcall");
  return arena_.make<CallBlock>(start, caller, call);
}

StatementRef Parser::with() {
  const Statement start = head(Statement::Kind::with);
  advance();
  std::vector<Target> targets;
  std::vector<ExpressionRef> values;
  while (token_.kind != Token::Kind::block_end) {
    if (!targets.empty()) expect_symbol(",");
    targets.push_back(target(false, false));
    expect_symbol("=");
    values.push_back(expression());
  }
  return arena_.make<With>(start, arena_.copy(targets), arena_.copy(values), body_to("endwith"));
}

StatementRef Parser::filter_block() {
  const Statement start = head(Statement::Kind::filter_block);
  advance();
  const Links links = filters(true);
  return arena_.make<FilterBlock>(start, links, body_to("endfilter"));
}

StatementRef Parser::leave(Statement::Kind kind) {
  if (loops_ == 0) fail_here(Trouble::syntax, "'" + std::string(token_.text) + "' stands outside of a loop");
  const auto* made = arena_.make<Statement>(head(kind));
  advance();
  return made;
}

}  // namespace

Syntax parse(Arena& arena, std::string_view source) { return Parser(arena, source).parse(); }

}  // namespace inlay::text::jinja

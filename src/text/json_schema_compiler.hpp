// Turns schemas into rules: one rule for each set of schemas that must hold together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/grammar_expression.hpp"
#include "text/json_schema.hpp"
#include "text/json_schema_numbers.hpp"
#include "text/json_schema_parts.hpp"
#include "text/regex_sets.hpp"

namespace inlay::text {

unsigned type_of(const JsonValue& value);

// What a list says of its elements: those at the front one by one, and the rest.
struct ListFacts {
  std::vector<Parts> front;
  Parts rest;
  std::uint64_t least = 0, most = unbounded;
};

struct StringFacts {
  std::uint64_t least = 0, most = unbounded;   // characters
  std::vector<ExpressionId> patterns, others;  // that must match, and must not
  std::optional<std::string> exactly;
  bool impossible = false;
};

struct Member {
  std::string name;
  Parts value;
  bool required = false;
};

// Members that have no name of their own in the schema.
struct OpenMembers {
  std::optional<TextSet> names;  // none: any name
  RuleId value = no_id;
};

struct ObjectFacts {
  std::vector<Member> members;  // in order
  std::vector<OpenMembers> open;
  std::uint64_t least = 0, most = unbounded;
  std::string least_at;  // where the schema says so
  bool ordered = true;   // by one schema that names them
};

// Branches of a "oneOf" that may hold together: the place of the list in the document, and their numbers.
struct Overlap {
  std::uint32_t list;
  std::size_t a, b;
  friend auto operator<=>(const Overlap&, const Overlap&) = default;
};

class SchemaCompiler {
 public:
  // `bare`: only the texts that are valid, and as they are; else JSON. Where branches overlap, each must hold without
  // the other; the compiler adds those that it finds, and what it made is of no use then.
  SchemaCompiler(const JsonValue& root, Unsupported unsupported, std::set<Overlap>& overlaps,
                 const BareTexts* bare = nullptr);
  Automaton compile();

 private:
  // json_schema.cpp: rules and alternatives
  RuleId rule_for(const Parts& parts);
  void emit_rule(const Parts& parts, RuleId rule);
  void emit_boolean(const Parts& parts, NodeId from, NodeId to);
  void emit_alternatives(const Parts& parts, const Part& choice, NodeId from, NodeId to);
  void find_overlaps();
  void space(NodeId from, NodeId to);
  void emit_any_string(NodeId from, NodeId to);
  void byte(NodeId from, char c, NodeId to) {
    out_.add_byte(from, static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c), to);
  }
  NodeId after_byte(NodeId from, char c);
  NodeId after_space(NodeId from);

  // json_schema_values.cpp
  bool emit_plain_values(const Parts& parts, NodeId from, NodeId to);
  void emit_value(const JsonValue& value, NodeId from, NodeId to);

  // json_schema_types.cpp
  unsigned types_of(const Parts& parts) const;
  NumberFacts number_facts(const Parts& parts) const;
  void tighten(NumberFacts& facts, const JsonValue& schema) const;

  // json_schema_strings.cpp
  StringFacts string_facts(const Parts& parts);
  void add_string_facts(const JsonValue& schema, StringFacts& facts);
  void emit_string(const StringFacts& facts, NodeId from, NodeId to);
  void emit_bare(const StringFacts& facts, NodeId from, NodeId to);
  void emit_long_bare(const StringFacts& facts, NodeId from, NodeId to);
  void emit_content(const StringFacts& facts, NodeId from, NodeId to);
  std::vector<ExpressionId> machines(const StringFacts& facts);
  void add_others(const StringFacts& facts, std::vector<ExpressionId>& all);
  ExpressionId format_expression(const JsonValue& schema, const std::string& format);
  void emit_quoted(const std::string& text, NodeId from, NodeId to);

  // json_schema_lists.cpp
  struct ListSource {
    Parts front;
    const JsonValue* rest = nullptr;
  };
  ListSource read_list(const Part& part, ListFacts& facts) const;
  ListFacts list_facts(const Parts& parts) const;
  void refuse_unique(const Parts& parts) const;
  void emit_list(const ListFacts& facts, NodeId from, NodeId to);
  using Element = std::function<void(NodeId from, NodeId to)>;
  void emit_repeated(char close, const Element& element, std::uint64_t least, std::uint64_t most, NodeId from,
                     NodeId to);
  void emit_further(char close, const Element& element, std::uint64_t least, std::uint64_t most, NodeId from,
                    NodeId to);

  // json_schema_members.cpp
  ObjectFacts object_facts(const Parts& parts);
  friend class ObjectReader;

  // json_schema_objects.cpp
  void emit_object(const ObjectFacts& facts, NodeId from, NodeId to);
  void emit_in_any_order(const ObjectFacts& facts, NodeId from, NodeId to);
  void emit_in_order(const ObjectFacts& facts, NodeId from, NodeId to);
  void emit_member(const Member& member, NodeId from, NodeId to);
  RuleId open_member(const ObjectFacts& facts);

  const JsonValue& root_;
  const BareTexts* bare_;
  SchemaDocument document_;
  Automaton out_;
  Speller speller_;
  Expressions expressions_;
  std::map<Parts, RuleId> rules_;
  std::queue<std::pair<const Parts*, RuleId>> waiting_;
  std::map<std::string, ExpressionId> formats_;
  struct Exclusive {
    RuleId both;
    Overlap overlap;
  };
  std::vector<Exclusive> exclusive_;
  std::set<Overlap>& overlaps_;
  RuleId space_ = no_id, any_string_ = no_id, any_character_ = no_id;
  JsonValue never_;  // the schema `false`
};

}  // namespace inlay::text

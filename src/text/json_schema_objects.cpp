// Objects of a schema: named members in their order, and open ones between them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "text/json_schema_compiler.hpp"
#include "text/regex.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_patterns = 5;        // of names: every combination of them is looked at
constexpr std::size_t most_counted = 1u << 14;  // members times the number of those present
constexpr std::size_t most_unordered = 6;       // members that may stand in any order

}  // namespace

// Collects what all parts say of an object's members.
class ObjectReader {
 public:
  ObjectReader(SchemaCompiler& compiler, const Parts& parts) : compiler_(compiler), document_(compiler.document_) {
    for (const Part& part : parts) {
      if (part.role == Part::Role::equal) read_constant(*part.value);
      else if (part.value->is(JsonValue::Kind::object)) read_schema(*part.value);
    }
    // A value has no order, and schemas that hold together have none among each other.
    const auto names = [](const Source& source) { return !source.named.empty(); };
    const bool constant = std::ranges::find(parts, Part::Role::equal, &Part::role) != parts.end();
    facts_.ordered = !constant && std::ranges::count_if(sources_, names) <= 1;
  }

  ObjectFacts facts() {
    for (Member& member : facts_.members) finish(member);
    if (facts_.members.size() < facts_.most) add_open_members();
    return std::move(facts_);
  }

 private:
  struct Pattern {
    ExpressionId expression;
    TextSet names;
    const JsonValue* value;
  };
  struct Source {
    std::unordered_map<std::string_view, Part> named;
    std::vector<std::size_t> patterns;  // indices
    const JsonValue* additional = nullptr;
  };

  Member& member(const std::string& name) {
    const auto [at, added] = index_.try_emplace(name, facts_.members.size());
    if (added) facts_.members.push_back({name, {}, false});
    return facts_.members[at->second];
  }

  void read_constant(const JsonValue& value) {
    Source source;
    for (const auto& [name, each] : value.members) {
      member(name).required = true;
      source.named.emplace(name, Part{&each, Part::Role::equal});
    }
    source.additional = &compiler_.never_;
    sources_.push_back(std::move(source));
  }

  void read_schema(const JsonValue& schema) {
    Source source;
    if (const JsonValue* properties = document_.object(schema, "properties")) {
      for (const auto& [name, value] : properties->members) {
        member(name);
        source.named.emplace(name, Part{&value});
      }
    }
    read_required(schema);
    read_patterns(schema, source);
    source.additional = schema.find("additionalProperties");
    facts_.least = std::max(facts_.least, document_.count(schema, "minProperties").value_or(0));
    facts_.most = std::min<std::uint64_t>(facts_.most, document_.count(schema, "maxProperties").value_or(unbounded));
    if (const JsonValue* names = schema.find("propertyNames")) read_names(schema, *names);
    for (const std::string_view keyword : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      if (schema.find(keyword)) document_.cannot(schema, keyword, "cannot be expressed by a grammar");
    }
    sources_.push_back(std::move(source));
  }

  void read_required(const JsonValue& schema) {
    const JsonValue* required = document_.array(schema, "required");
    if (!required) return;
    for (const JsonValue& name : required->items) {
      if (!name.is(JsonValue::Kind::string)) document_.fail(Flaw::bad_value, schema, "required", "must be a list of strings");
      member(name.text).required = true;
    }
  }

  void read_patterns(const JsonValue& schema, Source& source) {
    const JsonValue* patterns = document_.object(schema, "patternProperties");
    if (!patterns) return;
    for (const auto& [text, value] : patterns->members) {
      const auto where = document_.place(schema, "patternProperties") + pointer_step(text);
      const ExpressionId id = parse_regex(text, Match::search, compiler_.expressions_, where);
      source.patterns.push_back(patterns_.size());
      patterns_.push_back({id, TextSet(compiler_.expressions_, {&id, 1}, [](std::uint64_t bits) { return bits == 1; }), &value});
    }
  }

  // What names must be: as for any string, but without alternatives.
  void read_names(const JsonValue& schema, const JsonValue& names) {
    const Parts parts = document_.take_apart({{&names}});
    const auto simple = [](const Part& part) { return part.role == Part::Role::plain || part.role == Part::Role::equal; };
    if (std::ranges::any_of(parts, std::not_fn(simple))) {
      return document_.cannot(schema, "propertyNames", "is not supported with 'anyOf', 'oneOf' or 'enum'");
    }
    const bool strings = (compiler_.types_of(parts) & json_type::string) != 0;
    StringFacts facts = compiler_.string_facts(parts);
    if (!strings || facts.impossible) facts_.most = 0;
    else for (const ExpressionId id : compiler_.machines(facts)) names_.push_back(id);
  }

  bool name_allowed(const std::string& name) {
    if (names_.empty()) return true;
    const std::uint64_t every = (std::uint64_t{1} << names_.size()) - 1;
    return TextSet(compiler_.expressions_, names_, [&](std::uint64_t bits) { return bits == every; }).contains(name);
  }

  void finish(Member& member) {
    for (const Source& source : sources_) {
      bool known = false;
      if (const auto named = source.named.find(member.name); named != source.named.end()) {
        member.value.push_back(named->second);
        known = true;
      }
      for (const std::size_t i : source.patterns) {
        if (!patterns_[i].names.contains(member.name)) continue;
        member.value.push_back({patterns_[i].value});
        known = true;
      }
      if (!known && source.additional) member.value.push_back({source.additional});
    }
    if (!name_allowed(member.name)) member.value.push_back({&compiler_.never_});
  }

  // For each combination of patterns that a name may match: the names, and what their values must be.
  void add_open_members() {
    if (patterns_.size() > most_patterns) refuse(Flaw::unsupported, fmt::format("'patternProperties' are supported up to {}", most_patterns));
    for (std::uint64_t matched = 0; matched < std::uint64_t{1} << patterns_.size(); ++matched) {
      Parts value;
      for (const Source& source : sources_) {
        bool known = false;
        for (const std::size_t i : source.patterns) {
          if ((matched >> i & 1) == 0) continue;
          value.push_back({patterns_[i].value});
          known = true;
        }
        if (!known && source.additional) value.push_back({source.additional});
      }
      const auto forbids = [](const Part& part) { return part.value->is(JsonValue::Kind::boolean) && !part.value->truth; };
      if (std::ranges::any_of(value, forbids)) continue;
      OpenMembers open{open_names(matched), compiler_.rule_for(value)};
      if (!open.names || !open.names->empty()) facts_.open.push_back(std::move(open));
    }
  }

  std::optional<TextSet> open_names(std::uint64_t matched) {
    if (patterns_.empty() && names_.empty() && facts_.members.empty()) return std::nullopt;
    std::vector<ExpressionId> parts, known;
    for (const Pattern& pattern : patterns_) parts.push_back(pattern.expression);
    parts.insert(parts.end(), names_.begin(), names_.end());
    for (const Member& member : facts_.members) known.push_back(compiler_.expressions_.text(member.name));
    std::uint64_t wanted = matched;
    for (std::size_t i = 0; i < names_.size(); ++i) wanted |= std::uint64_t{1} << (patterns_.size() + i);
    if (!known.empty()) parts.push_back(compiler_.expressions_.choice(known));
    if (parts.size() > 60) refuse(Flaw::limit, "an object of the schema has too many patterns");
    return TextSet(compiler_.expressions_, parts, [&](std::uint64_t bits) { return bits == wanted; });
  }

  SchemaCompiler& compiler_;
  SchemaDocument& document_;
  ObjectFacts facts_;
  std::vector<Source> sources_;
  std::vector<Pattern> patterns_;
  std::vector<ExpressionId> names_;
  std::unordered_map<std::string, std::size_t> index_;
};

ObjectFacts SchemaCompiler::object_facts(const Parts& parts) { return ObjectReader(*this, parts).facts(); }

void SchemaCompiler::emit_object(const ObjectFacts& facts, NodeId from, NodeId to) {
  if (facts.least > facts.most) return;
  const NodeId open = after_byte(from, '{');
  const bool limited = facts.least > 0 || facts.most != unbounded;
  if (!facts.ordered && !limited && facts.members.size() <= most_unordered) return emit_in_any_order(facts, open, to);
  if (!facts.members.empty()) return emit_in_order(facts, open, to);
  const RuleId member = open_member(facts);
  const Element element = [&](NodeId begin, NodeId end) { out_.add_call(begin, member, end); };
  emit_repeated('}', element, facts.least, member == no_id ? 0 : facts.most, open, to);
}

// A rule for all members that have no name of their own; no_id if there are none.
RuleId SchemaCompiler::open_member(const ObjectFacts& facts) {
  if (facts.open.empty()) return no_id;
  const RuleId rule = out_.add_rule("a member");
  for (const OpenMembers& members : facts.open) {
    const NodeId named = out_.add_node();
    if (members.names) {
      const NodeId end = out_.add_node();
      members.names->emit(out_, speller_, Spelling::json, after_byte(out_.rule(rule).entry, '"'), end);
      byte(end, '"', named);
    } else {
      emit_any_string(out_.rule(rule).entry, named);
    }
    out_.add_call(after_space(after_byte(after_space(named), ':')), members.value, out_.rule(rule).exit);
  }
  return rule;
}

// Nodes for each set of members that have been written.
void SchemaCompiler::emit_in_any_order(const ObjectFacts& facts, NodeId from, NodeId to) {
  const std::size_t size = facts.members.size(), sets = std::size_t{1} << size;
  std::size_t required = 0;
  for (std::size_t i = 0; i < size; ++i) required |= std::size_t{facts.members[i].required} << i;
  const RuleId any = open_member(facts);
  std::vector<NodeId> begin, after;  // a member; where one may begin, and where one has ended
  for (std::size_t set = 0; set < sets; ++set) begin.push_back(out_.add_node()), after.push_back(out_.add_node());
  const NodeId first = after_space(from);
  out_.add_empty(first, begin[0]);
  if (required == 0) byte(first, '}', to);
  for (std::size_t set = 0; set < sets; ++set) {
    const NodeId end = after_space(after[set]);
    if ((set & required) == required) byte(end, '}', to);
    out_.add_empty(after_space(after_byte(end, ',')), begin[set]);
    if (any != no_id) out_.add_call(begin[set], any, after[set]);
    for (std::size_t i = 0; i < size; ++i) {
      if ((set >> i & 1) == 0) emit_member(facts.members[i], begin[set], after[set | std::size_t{1} << i]);
    }
  }
}

// Nodes for each member that may come next, and for how many are written as far as their number matters.
void SchemaCompiler::emit_in_order(const ObjectFacts& facts, NodeId from, NodeId to) {
  const std::size_t size = facts.members.size();
  std::size_t last_required = 0, required = 0;  // members up to the last that must be there
  for (std::size_t i = 0; i < size; ++i) {
    if (facts.members[i].required) last_required = i + 1, ++required;
  }
  const bool limited = facts.most != unbounded && (facts.most < size || !facts.open.empty());
  const std::uint64_t counted = limited ? facts.most : facts.least > required ? facts.least : 0;
  if (counted * (size + 1) > most_counted) {
    refuse(Flaw::limit, "'minProperties' or 'maxProperties' is too large beside 'properties'");
  }
  struct Place {
    NodeId begin;  // a member may begin: an open one, or a named one from here on
    NodeId named;  // only a named one
    NodeId after;  // a member has ended
  };
  using Key = std::pair<std::size_t, std::uint64_t>;  // members passed, members written
  std::map<Key, Place> places;
  std::vector<Key> open;
  const auto place = [&](std::size_t i, std::uint64_t count) {
    const auto [at, added] = places.try_emplace({i, count});
    if (added) at->second = {out_.add_node(), out_.add_node(), out_.add_node()}, open.emplace_back(i, count);
    return at->second;
  };
  const RuleId any = open_member(facts);
  const NodeId first = after_space(from);
  out_.add_empty(first, place(0, 0).begin);
  if (last_required == 0 && facts.least == 0) byte(first, '}', to);
  while (!open.empty()) {
    const auto [i, count] = open.back();
    open.pop_back();
    const Place here = place(i, count);
    const std::uint64_t next = limited ? count + 1 : std::min(count + 1, counted);
    const NodeId end = after_space(here.after);
    if (i >= last_required && count >= std::min(facts.least, limited ? facts.least : counted)) byte(end, '}', to);
    if (limited && count == facts.most) continue;
    out_.add_empty(after_space(after_byte(end, ',')), here.begin);
    out_.add_empty(here.begin, here.named);
    if (any != no_id) out_.add_call(here.begin, any, place(i, next).after);
    if (i == size) continue;
    emit_member(facts.members[i], here.named, place(i + 1, next).after);
    if (!facts.members[i].required) out_.add_empty(here.named, place(i + 1, count).named);
  }
}

void SchemaCompiler::emit_member(const Member& member, NodeId from, NodeId to) {
  const NodeId named = out_.add_node();
  emit_quoted(member.name, from, named);
  out_.add_call(after_space(after_byte(after_space(named), ':')), rule_for(member.value), to);
}

}  // namespace inlay::text

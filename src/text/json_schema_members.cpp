// What schemas say of the members of an object.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "text/json_schema_compiler.hpp"
#include "text/regex.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_patterns = 5;  // of names: every combination of them is looked at

}  // namespace

// Collects what all parts say of an object's members.
class ObjectReader {
 public:
  ObjectReader(SchemaCompiler& compiler, const Parts& parts) : compiler_(compiler), document_(compiler.document_) {
    for (const Part& part : parts) {
      if (part.role == Part::Role::equal)
        read_constant(*part.value);
      else if (part.value->is(JsonValue::Kind::object))
        read_schema(*part.value);
    }
    // A value has no order, and schemas that hold together have none among each other.
    const auto names = [](const Source& source) { return !source.named.empty() && !source.made; };
    const bool constant = std::ranges::find(parts, Part::Role::equal, &Part::role) != parts.end();
    facts_.ordered = !constant && std::ranges::count_if(sources_, names) <= 1 &&
                     std::ranges::all_of(facts_.members, [&](const Member& member) { return named(member); });
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
    bool made = false;  // of other keywords
  };

  // By some "properties" of the document, not only as required or by what was made of other keywords.
  bool named(const Member& member) const {
    return std::ranges::any_of(
        sources_, [&](const Source& source) { return !source.made && source.named.contains(member.name); });
  }

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
    source.made = SchemaMaker::made(schema);
    if (const JsonValue* properties = document_.object(schema, "properties")) {
      for (const auto& [name, value] : properties->members) {
        member(name);
        source.named.emplace(name, Part{&value});
      }
    }
    read_required(schema);
    read_patterns(schema, source);
    source.additional = schema.find("additionalProperties");
    if (const auto least = document_.count(schema, "minProperties"); least && *least > facts_.least) {
      facts_.least = *least;
      facts_.least_at = document_.place(schema, "minProperties");
    }
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
      if (!name.is(JsonValue::Kind::string))
        document_.fail(Flaw::bad_value, schema, "required", "must be a list of strings");
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
      patterns_.push_back(
          {id, TextSet(compiler_.expressions_, {&id, 1}, [](std::uint64_t bits) { return bits == 1; }), &value});
    }
  }

  // What names must be: as for any string, but without alternatives other than lists of names.
  void read_names(const JsonValue& schema, const JsonValue& names) {
    const Parts parts = document_.take_apart({{&names}});
    const auto simple = [](const Part& part) {
      return part.role == Part::Role::plain || part.role == Part::Role::one_value || part.role == Part::Role::equal;
    };
    if (std::ranges::any_of(parts, std::not_fn(simple))) {
      return document_.cannot(schema, "propertyNames", "is not supported with alternatives or 'not'");
    }
    for (const Part& part : parts) {
      if (part.role == Part::Role::one_value) read_name_list(part.value->items);
    }
    const bool strings = (compiler_.types_of(parts) & json_type::string) != 0;
    StringFacts facts = compiler_.string_facts(parts);
    if (!strings || facts.impossible)
      facts_.most = 0;
    else
      for (const ExpressionId id : compiler_.machines(facts)) names_.push_back(id);
  }

  void read_name_list(const std::vector<JsonValue>& list) {
    std::vector<ExpressionId> texts;
    for (const JsonValue& each : list) {
      if (each.is(JsonValue::Kind::string)) texts.push_back(compiler_.expressions_.text(each.text));
    }
    if (texts.empty()) facts_.most = 0;
    if (!texts.empty()) names_.push_back(compiler_.expressions_.choice(texts));
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
    if (patterns_.size() > most_patterns)
      refuse(Flaw::unsupported, fmt::format("'patternProperties' are supported up to {}", most_patterns));
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
      const auto forbids = [](const Part& part) {
        return part.value->is(JsonValue::Kind::boolean) && !part.value->truth;
      };
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

}  // namespace inlay::text

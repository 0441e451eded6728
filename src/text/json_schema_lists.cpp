// Arrays of a schema, and all else that is a list with commas.
#include <algorithm>

#include "text/json_schema_compiler.hpp"

namespace inlay::text {

SchemaCompiler::ListSource SchemaCompiler::read_list(const Part& part, ListFacts& facts) const {
  const JsonValue& value = *part.value;
  ListSource source;
  if (part.role == Part::Role::equal) {
    for (const JsonValue& item : value.items) source.front.push_back({&item, Part::Role::equal});
    source.rest = &never_;
    facts.least = std::max<std::uint64_t>(facts.least, value.items.size());
    facts.most = std::min<std::uint64_t>(facts.most, value.items.size());
  } else if (value.is(JsonValue::Kind::object)) {
    facts.least = std::max(facts.least, document_.count(value, "minItems").value_or(0));
    facts.most = std::min<std::uint64_t>(facts.most, document_.count(value, "maxItems").value_or(unbounded));
    if (value.find("contains")) document_.cannot(value, "contains", "cannot be expressed by a grammar");
    const JsonValue* items = value.find("items");
    const bool old_tuple = items && items->is(JsonValue::Kind::array);  // draft-07
    const JsonValue* front = old_tuple ? items : document_.array(value, "prefixItems");
    if (front) {
      for (const JsonValue& item : front->items) source.front.push_back({&item});
    }
    source.rest = old_tuple ? value.find("additionalItems") : items;
  }
  return source;
}

ListFacts SchemaCompiler::list_facts(const Parts& parts) const {
  ListFacts facts;
  std::vector<ListSource> sources;
  std::size_t longest = 0;
  for (const Part& part : parts) {
    sources.push_back(read_list(part, facts));
    longest = std::max(longest, sources.back().front.size());
  }
  facts.front.resize(std::min<std::uint64_t>(longest, facts.most));
  for (const ListSource& source : sources) {
    for (std::size_t i = 0; i < facts.front.size(); ++i) {
      if (i < source.front.size()) {
        facts.front[i].push_back(source.front[i]);
      } else if (source.rest) {
        facts.front[i].push_back({source.rest});
      }
    }
    if (source.rest) facts.rest.push_back({source.rest});
  }
  if (facts.most > 1) refuse_unique(parts);
  return facts;
}

void SchemaCompiler::refuse_unique(const Parts& parts) const {
  for (const Part& part : parts) {
    const JsonValue* unique = part.role == Part::Role::plain ? part.value->find("uniqueItems") : nullptr;
    const bool matters = unique && !(unique->is(JsonValue::Kind::boolean) && !unique->truth);
    if (matters) document_.cannot(*part.value, "uniqueItems", "cannot be expressed by a grammar");
  }
}

void SchemaCompiler::emit_list(const ListFacts& facts, NodeId from, NodeId to) {
  if (facts.least > facts.most) return;
  const NodeId open = after_byte(from, '[');
  const RuleId rest = facts.most > facts.front.size() ? rule_for(facts.rest) : no_id;
  const Element element = [&](NodeId begin, NodeId end) { out_.add_call(begin, rest, end); };
  if (facts.front.empty()) return emit_repeated(']', element, facts.least, facts.most, open, to);
  NodeId at = after_space(open);
  if (facts.least == 0) byte(at, ']', to);
  for (std::size_t i = 0; i < facts.front.size(); ++i) {
    const NodeId after = out_.add_node();
    out_.add_call(at, rule_for(facts.front[i]), after);
    if (i + 1 == facts.front.size()) {
      const std::uint64_t done = i + 1;
      const std::uint64_t most = facts.most == unbounded ? unbounded : facts.most - done;
      return emit_further(']', element, facts.least > done ? facts.least - done : 0, most, after, to);
    }
    const NodeId next = after_space(after);
    if (i + 1 >= facts.least) byte(next, ']', to);
    at = after_space(after_byte(next, ','));
  }
}

// After the opening bracket: elements that are all alike, and the closing bracket.
void SchemaCompiler::emit_repeated(char close, const Element& element, std::uint64_t least, std::uint64_t most,
                                   NodeId from, NodeId to) {
  const NodeId first = after_space(from);
  if (least == 0) byte(first, close, to);
  if (most == 0) return;
  const NodeId after = out_.add_node();
  element(first, after);
  emit_further(close, element, least == 0 ? 0 : least - 1, most == unbounded ? unbounded : most - 1, after, to);
}

// After an element: more of them, each after a comma, and the closing bracket.
void SchemaCompiler::emit_further(char close, const Element& element, std::uint64_t least, std::uint64_t most,
                                  NodeId from, NodeId to) {
  NodeId done = from;
  const auto one_more = [&](NodeId begin, NodeId end) {
    element(after_space(after_byte(after_space(begin), ',')), end);
  };
  if (most == unbounded && least <= 1) {
    done = out_.add_node();
    if (least == 0)
      out_.add_empty(from, done);
    else
      one_more(from, done);
    one_more(done, done);
  } else if (most > 0) {
    const RuleId round = out_.add_rule("a further element");
    one_more(out_.rule(round).entry, out_.rule(round).exit);
    done = out_.add_node();
    out_.add_repeat(from, round, static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(most), done);
  }
  byte(after_space(done), close, to);
}

}  // namespace inlay::text

// Objects of a schema: named members in their order, and open ones between them.
#include <algorithm>

#include "text/grammar_error.hpp"
#include "text/json_schema_compiler.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_counted = 1u << 14;  // members times the number of those present
constexpr std::size_t most_unordered = 6;       // members that may stand in any order

}  // namespace

void SchemaCompiler::emit_object(const ObjectFacts& facts, NodeId from, NodeId to) {
  if (facts.least > facts.most) return;
  // A grammar cannot tell whether two open members have the same name, and such count once.
  const auto required = std::ranges::count(facts.members, true, &Member::required);
  if (!facts.open.empty() && facts.least > static_cast<std::uint64_t>(required) + 1 && !document_.lenient()) {
    refuse(Flaw::unsupported,
           "'minProperties' at " + facts.least_at + " cannot be honoured for names that are not given", facts.least_at);
  }
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

namespace {

// What of the number of members matters while they stand in order.
struct Counting {
  std::size_t last_required = 0;  // members up to the last that must be there
  bool limited = false;           // there may be too many
  std::uint64_t most = 0;         // beyond which all numbers are alike, or too many

  explicit Counting(const ObjectFacts& facts) {
    const std::size_t size = facts.members.size();
    std::size_t required = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (facts.members[i].required) last_required = i + 1, ++required;
    }
    limited = facts.most != unbounded && (facts.most < size || !facts.open.empty());
    most = limited ? facts.most : facts.least > required ? facts.least : 0;
    if (most * (size + 1) > most_counted) {
      refuse(Flaw::limit, "'minProperties' or 'maxProperties' is too large beside 'properties'");
    }
  }
  std::uint64_t after(std::uint64_t count) const { return limited ? count + 1 : std::min(count + 1, most); }
};

}  // namespace

// Nodes for each member that may come next, and for how many are written as far as their number matters.
void SchemaCompiler::emit_in_order(const ObjectFacts& facts, NodeId from, NodeId to) {
  struct Place {
    NodeId begin;  // a member may begin: an open one, or a named one from here on
    NodeId named;  // only a named one
    NodeId after;  // a member has ended
  };
  using Key = std::pair<std::size_t, std::uint64_t>;  // members passed, members written
  const Counting counting(facts);
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
  if (counting.last_required == 0 && facts.least == 0) byte(first, '}', to);
  while (!open.empty()) {
    const auto [i, count] = open.back();
    open.pop_back();
    const Place here = place(i, count);
    const std::uint64_t next = counting.after(count);
    const NodeId end = after_space(here.after);
    const bool enough = count >= facts.least || (!counting.limited && count == counting.most);
    if (i >= counting.last_required && enough) byte(end, '}', to);
    if (counting.limited && count == facts.most) continue;
    out_.add_empty(after_space(after_byte(end, ',')), here.begin);
    out_.add_empty(here.begin, here.named);
    if (any != no_id) out_.add_call(here.begin, any, place(i, next).after);
    if (i == facts.members.size()) continue;
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

// Gemma's notation of arguments: keys as they are, texts between marks of their own.
#include <algorithm>

#include "text/call_writer.hpp"

namespace inlay::text {
namespace {

constexpr std::string_view quote = "<|\"|>";

}  // namespace

// The template sorts members by their names, so the model does.
NodeId CallWriter::gemma_object(NodeId from, const std::vector<CallParameter>& members) {
  if (members.empty()) return gemma_any_object(from);
  auto sorted = members;
  std::ranges::sort(sorted, {}, &CallParameter::name);
  const NodeId end = in_order(plain(from, "{"), sorted, ",", [&](NodeId begin, const CallParameter& member) {
    return gemma_value(plain(begin, member.name + ":"), member.value);
  });
  return plain(end, "}");
}

NodeId CallWriter::gemma_list(NodeId from, const CallValue& list) {
  const NodeId to = out_.add_node(), open = plain(from, "["), first = out_.add_node(), end = out_.add_node();
  if (list.least == 0) out_.add_text(open, "]", to);
  if (list.most == 0) return to;
  const RuleId element = out_.add_rule("an element of Gemma"), further = out_.add_rule("a further element of Gemma");
  const CallValue value = list.element.empty() ? CallValue() : list.element.front();
  out_.add_empty(gemma_value(out_.rule(element).entry, value), out_.rule(element).exit);
  out_.add_call(plain(out_.rule(further).entry, ","), element, out_.rule(further).exit);
  out_.add_call(open, element, first);
  out_.add_repeat(first, further, std::max(list.least, 1u) - 1, list.most == unbounded ? unbounded : list.most - 1,
                  end);
  out_.add_text(end, "]", to);
  return to;
}

NodeId CallWriter::gemma_value(NodeId from, const CallValue& value) {
  using Kind = CallValue::Kind;
  switch (value.kind) {
    case Kind::text: {
      if (value.texts.empty()) return until(plain(from, quote), quote);
      return plain(bare(plain(from, quote), value.texts, {.end = std::string(quote)}), quote);
    }
    case Kind::json: return grammar(from, value.json);
    case Kind::list: return gemma_list(from, value);
    case Kind::object: return gemma_object(from, value.members);
    case Kind::any: break;
  }
  return gemma_any(from);
}

NodeId CallWriter::gemma_any_object(NodeId from) {
  const NodeId begin = out_.add_node(), to = out_.add_node(), open = plain(from, "{"), end = out_.add_node();
  out_.add_empty(open, begin);
  const NodeId key = plain(grammar(begin, Grammar::regex("[A-Za-z0-9_.$-]{1,64}")), ":");
  out_.add_empty(gemma_any(key), end);
  out_.add_empty(plain(end, ","), begin);
  for (const NodeId last : {open, end}) out_.add_text(last, "}", to);
  return to;
}

NodeId CallWriter::gemma_any(NodeId from) {
  if (any_value_ == no_id) {
    any_value_ = out_.add_rule("a value of Gemma");
    const NodeId entry = out_.rule(any_value_).entry, exit = out_.rule(any_value_).exit;
    out_.add_empty(until(plain(entry, quote), quote), exit);
    out_.add_empty(grammar(entry, Grammar::regex("-?[0-9]{1,20}(\\.[0-9]{1,20})?|true|false|null")), exit);
    out_.add_empty(gemma_list(entry, {}), exit);
    out_.add_empty(gemma_any_object(entry), exit);
  }
  const NodeId to = out_.add_node();
  out_.add_call(from, any_value_, to);
  return to;
}

}  // namespace inlay::text

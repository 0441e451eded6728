// Calls as automata: marks as they are spelled, names that exist, and arguments in one of three notations.
#include "text/call_writer.hpp"

#include <algorithm>

#include "inlay/error.hpp"
#include "text/chat_call_reader.hpp"
#include "text/grammar_rules.hpp"
#include "text/mark_search.hpp"

namespace inlay::text {
namespace {

constexpr int longest_gap = 2, longest_word = 32;

std::string_view without_gaps(std::string_view spelled) {
  while (spelled.ends_with('\n')) spelled.remove_suffix(1);
  return spelled;
}

}  // namespace

NodeId CallWriter::plain(NodeId from, std::string_view bytes) {
  const NodeId to = out_.add_node();
  out_.add_text(from, bytes, to);
  return to;
}

NodeId CallWriter::gap(NodeId from) {
  const NodeId to = out_.add_node();
  for (int i = 0; i < longest_gap; ++i) {
    out_.add_empty(from, to);
    const NodeId next = i + 1 == longest_gap ? to : out_.add_node();
    for (const char space : {' ', '\n'}) out_.add_byte(from, std::uint8_t(space), std::uint8_t(space), next);
    from = next;
  }
  return to;
}

NodeId CallWriter::word(NodeId from) {
  const NodeId to = out_.add_node();
  for (int i = 0; i < longest_word; ++i) {
    const NodeId next = out_.add_node();
    for (const auto& [first, last] : {std::pair{'0', '9'}, {'A', 'Z'}, {'a', 'z'}})
      out_.add_byte(from, std::uint8_t(first), std::uint8_t(last), next);
    out_.add_empty(next, to);
    from = next;
  }
  return to;
}

NodeId CallWriter::text(NodeId from, std::string_view spelled) {
  while (!spelled.empty()) {
    const std::size_t end = std::min(spelled.find_first_of("\n#"), spelled.size());
    if (end > 0) from = plain(from, spelled.substr(0, end));
    if (end < spelled.size()) from = spelled[end] == '#' ? word(from) : gap(from);
    spelled.remove_prefix(std::min(end + 1, spelled.size()));
  }
  return from;
}

NodeId CallWriter::until(NodeId from, std::string_view mark) {
  const auto search = MarkSearch({std::string(mark)}).write(out_);
  out_.add_empty(from, search.begin);
  return search.after.front();
}

NodeId CallWriter::grammar(NodeId from, const Grammar& grammar) {
  const NodeId to = out_.add_node();
  out_.add_call(from, out_.adopt(GrammarRules::of(grammar)->automaton), to);
  return to;
}

NodeId CallWriter::either(NodeId from, const std::vector<std::string>& texts) {
  const NodeId to = out_.add_node();
  for (const std::string& each : texts) out_.add_empty(text(from, each), to);
  return to;
}

NodeId CallWriter::call(NodeId from, const CallTool& tool) {
  from = text(from, spelling_.before_name);
  from = plain(from, spelling_.quotes_name ? json_quoted(tool.name) : tool.name);
  return either(arguments(either(from, spelling_.after_name), tool), spelling_.close);
}

NodeId CallWriter::rest_of_call(NodeId from, const std::vector<CallTool>& tools) {
  if (spelling_.in_list) from = text(from, "[");
  const NodeId begin = out_.add_node(), end = out_.add_node();
  out_.add_empty(from, begin);
  for (const CallTool& tool : tools) out_.add_empty(call(begin, tool), end);
  if (!spelling_.in_list) return end;
  out_.add_empty(text(end, ",\n"), begin);
  return text(end, "]");
}

NodeId CallWriter::calls(NodeId from, const std::vector<CallTool>& tools) {
  from = text(from, spelling_.before_all);
  const NodeId begin = out_.add_node();
  out_.add_empty(from, begin);
  const NodeId end = rest_of_call(text(begin, spelling_.opener), tools);
  if (spelling_.many) out_.add_empty(text(end, spelling_.between), begin);
  return text(end, spelling_.after_all);
}

NodeId CallWriter::arguments(NodeId from, const CallTool& tool) {
  switch (spelling_.arguments) {
    case CallSpelling::Arguments::json: return grammar(from, tool.arguments);
    case CallSpelling::Arguments::tags: return tagged(from, tool.value.members);
    case CallSpelling::Arguments::gemma: return gemma_object(from, tool.value.members);
  }
  return from;
}

// Members one after the other; those that are not required may be missing.
NodeId CallWriter::in_order(NodeId from, const std::vector<CallParameter>& parameters, std::string_view separator,
                            const std::function<NodeId(NodeId, const CallParameter&)>& write) {
  NodeId none = from, some = out_.add_node();  // nothing was written yet; something was
  for (const CallParameter& parameter : parameters) {
    const NodeId still_none = out_.add_node(), written = out_.add_node(), begin = out_.add_node();
    out_.add_empty(none, begin);
    out_.add_empty(plain(some, separator), begin);
    out_.add_empty(write(begin, parameter), written);
    if (!parameter.required) out_.add_empty(none, still_none), out_.add_empty(some, written);
    none = still_none, some = written;
  }
  const NodeId to = out_.add_node();
  for (const NodeId end : {none, some}) out_.add_empty(end, to);
  return to;
}

NodeId CallWriter::tagged(NodeId from, const std::vector<CallParameter>& parameters) {
  if (parameters.empty()) {  // the schema names none: any
    const NodeId begin = out_.add_node();
    out_.add_empty(from, begin);
    const NodeId key = until(text(begin, spelling_.key_begin), without_gaps(spelling_.key_end));
    out_.add_empty(tagged_value(key, {}), begin);
    return begin;
  }
  return in_order(from, parameters, "", [&](NodeId begin, const CallParameter& parameter) {
    const NodeId key = plain(text(begin, spelling_.key_begin), parameter.name);
    return tagged_value(text(key, spelling_.key_end), parameter.value);
  });
}

NodeId CallWriter::tagged_value(NodeId from, const CallValue& value) {
  using Kind = CallValue::Kind;
  const std::string_view end = without_gaps(spelling_.value_end);
  const bool is_text = value.kind == Kind::text;
  if ((is_text || value.kind == Kind::any) && value.texts.empty()) {
    return text(until(from, end), std::string_view(spelling_.value_end).substr(end.size()));
  }
  const NodeId to = out_.add_node();
  if (!is_text) out_.add_empty(gap(grammar(gap(from), value.json)), to);
  if (is_text || value.kind == Kind::any) {
    const BareTexts how{.end = std::string(end), .loses_line_ends = true, .may_be_json = is_text};
    for (const NodeId begin : {from, plain(from, "\n")}) {
      const NodeId after = bare(begin, value.texts, how);
      out_.add_empty(after, to), out_.add_text(after, "\n", to);
    }
  }
  return text(to, spelling_.value_end);
}

// A text of a schema; nothing where no text is valid.
NodeId CallWriter::bare(NodeId from, const std::string& schema, const BareTexts& how) {
  const NodeId to = out_.add_node();
  try {
    out_.add_call(from, out_.adopt(compile_bare_texts(schema, how)), to);
  } catch (const Error& error) {
    if (error.fault() != Fault::inconsistent) throw;
  }
  return to;
}

}  // namespace inlay::text

// Puts the calls of a family together: within free text, or as whole messages.
#include "text/call_grammar.hpp"

#include <algorithm>

#include "text/call_writer.hpp"
#include "text/chat_call_reader.hpp"
#include "text/grammar_rules.hpp"
#include "text/mark_search.hpp"

namespace inlay::text {

struct CallTools {
  OutputFormat format;
  CallSpelling spelling;
  std::vector<CallTool> tools;

  bool is_harmony() const { return format.calls == OutputFormat::Calls::harmony; }
};

namespace {

constexpr std::string_view next_channel = "<|start|>assistant", final_channel = "<|channel|>final<|message|>";

// How a call without a mark begins: an answer that is JSON may begin alike, so the name must be there.
std::array<std::string, 2> unmarked_openers(const CallSpelling& spelling, const CallTool& tool) {
  const std::string all = spelling.before_name + json_quoted(tool.name) + spelling.after_name.front();
  std::array<std::string, 2> openers;  // compact, and as it is usual
  for (const char c : all) {
    if (c == '\n') continue;
    for (std::string& opener : openers) opener += c;
    if (c == ':' || c == ',') openers[1] += ' ';
  }
  openers[1].pop_back();  // the space before the arguments belongs to what follows
  return openers;
}

// Writes messages of one kind.
class MessageWriter {
 public:
  MessageWriter(const CallTools& tools, Automaton& out) : tools_(tools), out_(out), writer_(out, tools.spelling) {}

  // Any text; after a mark comes the rest of its call, or nothing at all.
  NodeId free(NodeId from, MessageRules::Calls calls) {
    const bool marked = !tools_.spelling.opener.empty();
    std::vector<std::string> openers;
    if (marked) openers.push_back(tools_.spelling.opener);
    for (std::size_t i = 0; !marked && i < tools_.tools.size(); ++i)
      std::ranges::copy(unmarked_openers(tools_.spelling, tools_.tools[i]), std::back_inserter(openers));
    const auto search = MarkSearch(openers).write(out_);
    const NodeId to = out_.add_node();
    out_.add_empty(from, search.begin);
    for (const NodeId node : search.without) out_.add_empty(node, to);
    if (calls == MessageRules::Calls::none) return to;
    const auto go_on = [&](NodeId end) { out_.add_empty(end, search.begin), out_.add_empty(end, to); };
    if (marked) go_on(writer_.rest_of_call(search.after[0], tools_.tools));
    for (std::size_t i = 0; !marked && i < tools_.tools.size(); ++i) {
      out_.add_empty(search.after[2 * i], search.after[2 * i + 1]);
      go_on(unmarked_rest(search.after[2 * i + 1], tools_.tools[i]));
    }
    return to;
  }

  NodeId after_reasoning(NodeId from, const MessageRules& rules) {
    const NodeId to = out_.add_node();
    if (!rules.within_reasoning) out_.add_empty(from, to);
    if (!rules.may_reason && !rules.within_reasoning) return to;
    const NodeId within = rules.within_reasoning ? from : writer_.text(from, tools_.format.reasoning_begin);
    const NodeId after = writer_.until(within, tools_.format.reasoning_end);
    out_.add_empty(writer_.text(after, tools_.is_harmony() ? next_channel : "\n"), to);
    return to;
  }

  NodeId whole(NodeId from, const MessageRules& rules, const Grammar& answer) {
    const NodeId begin = after_reasoning(from, rules), to = out_.add_node();
    if (answer && rules.calls != MessageRules::Calls::only) {
      out_.add_empty(writer_.grammar(writer_.text(begin, tools_.is_harmony() ? final_channel : ""), answer), to);
    }
    const bool calls = rules.calls != MessageRules::Calls::none && !tools_.tools.empty();
    if (calls) out_.add_empty(writer_.calls(begin, tools_.tools), to);
    return to;
  }

 private:
  NodeId unmarked_rest(NodeId from, const CallTool& tool) {
    return writer_.text(writer_.grammar(writer_.text(from, "\n"), tool.arguments), tools_.spelling.close.front());
  }

  const CallTools& tools_;
  Automaton& out_;
  CallWriter writer_;
};

}  // namespace

CallGrammars::CallGrammars(const OutputFormat& format, std::string_view source, std::string_view tools,
                           std::string_view only)
    : tools_(std::make_unique<const CallTools>(
          CallTools{format, call_spelling(format, source), parse_call_tools(tools, only)})) {}

CallGrammars::~CallGrammars() = default;

Grammar CallGrammars::message(const MessageRules& rules, const Grammar& answer) const {
  const bool free = !answer && rules.calls != MessageRules::Calls::only;
  if (free && (tools_->tools.empty() || tools_->format.calls == OutputFormat::Calls::none)) return {};
  Automaton out;
  const RuleId root = out.add_rule("message");
  const NodeId from = out.rule(root).entry;
  MessageWriter writer(*tools_, out);
  const NodeId end = free ? writer.free(from, rules.calls) : writer.whole(from, rules, answer);
  out.add_empty(end, out.rule(root).exit);
  out.finish(root);
  return GrammarRules::make(std::move(out));
}

std::vector<std::string> output_marks(const OutputFormat& format, std::string_view source) {
  const CallSpelling spelling = call_spelling(format, source);
  std::vector<std::string> marks{format.reasoning_begin, format.reasoning_end};
  if (format.calls == OutputFormat::Calls::none) return marks;
  marks.insert(marks.end(), {spelling.before_all, spelling.opener, spelling.before_name, spelling.key_begin,
                             spelling.key_end, spelling.value_end, spelling.after_all});
  marks.insert(marks.end(), spelling.after_name.begin(), spelling.after_name.end());
  marks.insert(marks.end(), spelling.close.begin(), spelling.close.end());
  if (format.calls == OutputFormat::Calls::harmony) marks.insert(marks.end(), {std::string(next_channel), "<|end|>"});
  if (format.calls == OutputFormat::Calls::gemma) marks.emplace_back("<|\"|>");
  if (format.calls == OutputFormat::Calls::llama) marks.emplace_back("<|python_tag|>");
  return marks;
}

}  // namespace inlay::text

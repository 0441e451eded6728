// Writes calls, in the spelling of a family, into an automaton.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/automaton.hpp"
#include "text/call_spelling.hpp"
#include "text/call_tools.hpp"
#include "text/json_schema.hpp"

namespace inlay::text {

class CallWriter {
 public:
  CallWriter(Automaton& out, const CallSpelling& spelling) : out_(out), spelling_(spelling) {}

  // Each returns the node after what it wrote.
  NodeId text(NodeId from, std::string_view spelled);  // as CallSpelling spells
  NodeId until(NodeId from, std::string_view mark);    // anything, up to the mark and with it
  NodeId grammar(NodeId from, const Grammar& grammar);
  NodeId rest_of_call(NodeId from, const std::vector<CallTool>& tools);  // after the opener
  NodeId calls(NodeId from, const std::vector<CallTool>& tools);         // one or more, with all their marks

 private:
  using Write = std::function<NodeId(NodeId from)>;
  NodeId call(NodeId from, const CallTool& tool);
  NodeId either(NodeId from, const std::vector<std::string>& texts);
  NodeId arguments(NodeId from, const CallTool& tool);
  NodeId tagged(NodeId from, const std::vector<CallParameter>& parameters);
  NodeId tagged_value(NodeId from, const CallValue& value);
  NodeId bare(NodeId from, const std::string& schema, const BareTexts& how);
  NodeId gemma_value(NodeId from, const CallValue& value);
  NodeId gemma_object(NodeId from, const std::vector<CallParameter>& members);
  NodeId gemma_list(NodeId from, const CallValue& list);
  NodeId gemma_any(NodeId from);
  NodeId gemma_any_object(NodeId from);
  NodeId in_order(NodeId from, const std::vector<CallParameter>& parameters, std::string_view separator,
                  const std::function<NodeId(NodeId, const CallParameter&)>& write);
  NodeId gap(NodeId from);
  NodeId word(NodeId from);
  NodeId plain(NodeId from, std::string_view bytes);

  Automaton& out_;
  const CallSpelling& spelling_;
  RuleId any_value_ = no_id;  // of Gemma's notation
};

}  // namespace inlay::text

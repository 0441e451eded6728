// Expressions over characters, and their way into an automaton.
#include "text/grammar_expression.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "text/grammar_error.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_expressions = 1u << 20;
constexpr std::uint32_t heavy = 1u << 30;  // a weight that is never reached by adding

}  // namespace

ExpressionId Expressions::add(Node node) {
  if (nodes_.size() == most_expressions)
    refuse(Flaw::limit, "the grammar is too large: it has more than a million parts");
  nodes_.push_back(node);
  return static_cast<ExpressionId>(nodes_.size() - 1);
}

ExpressionId Expressions::chars(CharSet set) {
  sets_.push_back(std::move(set));
  Node node{Form::chars, false, static_cast<std::uint32_t>(sets_.size() - 1)};
  node.weight = static_cast<std::uint32_t>(1 + sets_.back().ranges().size());
  return add(node);
}

ExpressionId Expressions::text(std::string_view utf8) {
  std::vector<ExpressionId> parts;
  while (!utf8.empty()) {
    const auto character = base::decode_utf8(utf8);
    parts.push_back(this->character(character.code));
    utf8.remove_prefix(character.size);
  }
  return sequence(parts);
}

ExpressionId Expressions::list(Form form, std::span<const ExpressionId> parts) {
  if (parts.size() == 1) return parts.front();
  Node node{form, false, static_cast<std::uint32_t>(parts_.size()), static_cast<std::uint32_t>(parts.size())};
  for (const ExpressionId part : parts) {
    node.anchored = node.anchored || nodes_[part].anchored;
    node.weight = std::min(heavy, node.weight + nodes_[part].weight);
  }
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  return add(node);
}

ExpressionId Expressions::repeat(ExpressionId part, std::uint32_t least, std::uint32_t most) {
  parts_.push_back(part);
  return add({Form::repeat, nodes_[part].anchored, static_cast<std::uint32_t>(parts_.size() - 1), 1, least, most,
              std::min(heavy, nodes_[part].weight + 2)});
}

void Emitter::emit(ExpressionId id, NodeId from, NodeId to) {
  const Expressions::Node& node = expressions_[id];
  switch (node.form) {
    case Form::empty: return automaton_.add_empty(from, to);
    case Form::character: return speller_.spell(spelling_, char32_t{node.first}, from, to);
    case Form::chars: return speller_.spell(spelling_, expressions_.set(id), from, to);
    case Form::sequence: return emit_sequence(id, from, to);
    case Form::repeat: return emit_repeat(id, from, to);
    case Form::reference: return refer_(node.first, from, to);
    case Form::choice:
      for (const ExpressionId part : expressions_.parts(id)) emit(part, from, to);
      return;
    case Form::begin:
    case Form::end: break;
  }
  refuse(Flaw::unsupported, "an anchor of the pattern stands where it cannot be honoured");
}

void Emitter::emit_sequence(ExpressionId id, NodeId from, NodeId to) {
  const auto parts = expressions_.parts(id);
  if (parts.empty()) return automaton_.add_empty(from, to);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const NodeId after = i + 1 == parts.size() ? to : automaton_.add_node();
    emit(parts[i], from, after);
    from = after;
  }
}

void Emitter::emit_repeat(ExpressionId id, NodeId from, NodeId to) {
  const Expressions::Node& node = expressions_[id];
  const ExpressionId part = expressions_.parts(id)[0];
  if (node.most == 0) return automaton_.add_empty(from, to);
  if (node.most == 1) {
    if (node.least == 0) automaton_.add_empty(from, to);
    return emit(part, from, to);
  }
  if (node.most == unbounded && node.least <= 1) {
    const NodeId round = automaton_.add_node(), done = automaton_.add_node();
    automaton_.add_empty(from, round);
    emit(part, round, done);
    automaton_.add_empty(done, round);
    automaton_.add_empty(node.least == 0 ? round : done, to);
    return;
  }
  const RuleId body = automaton_.add_rule("a repeated part");
  emit(part, automaton_.rule(body).entry, automaton_.rule(body).exit);
  automaton_.add_repeat(from, body, node.least, node.most, to);
}

}  // namespace inlay::text

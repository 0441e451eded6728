// Compiles GBNF rules: small ones are written where they are used, the others are called.
#include "text/gbnf.hpp"

#include <algorithm>
#include <queue>
#include <vector>

#include "text/gbnf_parser.hpp"

namespace inlay::text {
namespace {

constexpr std::uint32_t small_weight = 512, small_depth = 16;
constexpr std::size_t most_inlined_nodes = 1u << 17;

// Which rules can be written out where they are used: not recursive, and small with all that they use.
class SmallRules {
 public:
  explicit SmallRules(const GbnfRules& all) : sizes_(all.rules.size()) {
    std::vector<std::vector<std::uint32_t>> users(all.rules.size());
    std::vector<std::uint32_t> open(all.rules.size());
    for (std::uint32_t rule = 0; rule < all.rules.size(); ++rule) {
      sizes_[rule].weight = all.expressions[all.rules[rule].body].weight;
      each_reference(all, all.rules[rule].body, [&](std::uint32_t used) { users[used].push_back(rule), ++open[rule]; });
    }
    // A rule is settled when all that it uses are; those that never are use themselves.
    std::vector<std::uint32_t> settled;
    for (std::uint32_t rule = 0; rule < all.rules.size(); ++rule) {
      if (open[rule] == 0) settled.push_back(rule);
    }
    while (!settled.empty()) {
      const std::uint32_t rule = settled.back();
      settled.pop_back();
      Size& size = sizes_[rule];
      size.small = size.weight <= small_weight && size.depth <= small_depth;
      for (const std::uint32_t user : users[rule]) {
        if (size.small) {
          sizes_[user].weight = std::min(small_weight + 1, sizes_[user].weight + size.weight);
          sizes_[user].depth = std::max(sizes_[user].depth, size.depth + 1);
        }
        if (--open[user] == 0) settled.push_back(user);
      }
    }
  }
  bool contains(std::uint32_t rule) const { return sizes_[rule].small; }

 private:
  struct Size {
    std::uint32_t weight = 0, depth = 0;
    bool small = false;
  };

  template <typename F>
  static void each_reference(const GbnfRules& all, ExpressionId body, F&& visit) {
    std::vector<ExpressionId> ahead{body};
    while (!ahead.empty()) {
      const ExpressionId id = ahead.back();
      ahead.pop_back();
      const Form form = all.expressions[id].form;
      if (form == Form::reference) visit(all.expressions[id].first);
      if (form != Form::sequence && form != Form::choice && form != Form::repeat) continue;
      for (const ExpressionId part : all.expressions.parts(id)) ahead.push_back(part);
    }
  }

  std::vector<Size> sizes_;
};

class GbnfCompiler {
 public:
  explicit GbnfCompiler(const GbnfRules& all)
      : all_(all),
        small_(all),
        speller_(out_),
        ids_(all.rules.size(), no_id),
        emitter_(out_, speller_, all.expressions, Spelling::utf8,
                 [this](std::uint32_t rule, NodeId from, NodeId to) { refer(rule, from, to); }) {}

  Automaton compile(std::uint32_t root) {
    const RuleId start = called(root);
    while (!waiting_.empty()) {
      const std::uint32_t rule = waiting_.front();
      waiting_.pop();
      emitter_.emit(all_.rules[rule].body, out_.rule(ids_[rule]).entry, out_.rule(ids_[rule]).exit);
    }
    out_.finish(start);
    return std::move(out_);
  }

 private:
  // The recursion through small rules is as deep as they may be.
  void refer(std::uint32_t rule, NodeId from, NodeId to) {
    if (small_.contains(rule) && out_.node_count() < most_inlined_nodes) {
      return emitter_.emit(all_.rules[rule].body, from, to);
    }
    out_.add_call(from, called(rule), to);
  }

  RuleId called(std::uint32_t rule) {
    if (ids_[rule] == no_id) {
      ids_[rule] = out_.add_rule(all_.rules[rule].name);
      waiting_.push(rule);
    }
    return ids_[rule];
  }

  const GbnfRules& all_;
  const SmallRules small_;
  Automaton out_;
  Speller speller_;
  std::vector<RuleId> ids_;
  std::queue<std::uint32_t> waiting_;
  Emitter emitter_;
};

}  // namespace

Automaton compile_gbnf(std::string_view rules) {
  const GbnfRules all = GbnfParser(rules).parse();
  const auto root = all.index.find("root");
  if (root == all.index.end()) refuse(Flaw::undefined, "the grammar has no rule 'root'", "root");
  return GbnfCompiler(all).compile(root->second);
}

}  // namespace inlay::text

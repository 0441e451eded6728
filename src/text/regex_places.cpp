// How many places there may be is limited, since repetitions within repetitions multiply.
#include "text/regex_places.hpp"

#include "text/grammar_error.hpp"

namespace inlay::text {

void Places::refuse_size() { refuse(Flaw::limit, "patterns and lengths are too large to be combined"); }

std::pair<std::uint32_t, std::uint32_t> Places::build(ExpressionId id) {
  const std::uint32_t from = place(), to = place();
  write(id, from, to);
  return {from, to};
}

std::uint32_t Places::place() {
  constexpr std::size_t most_places = 1u << 16;
  if (moves_.size() == most_places) refuse_size();
  moves_.emplace_back();
  return static_cast<std::uint32_t>(moves_.size() - 1);
}

void Places::write(ExpressionId id, std::uint32_t from, std::uint32_t to) {
  const Expressions::Node& node = expressions_[id];
  switch (node.form) {
    case Form::character: singles_.push_back(std::make_unique<CharSet>(char32_t{node.first})); break;
    case Form::chars: moves_[from].push_back({&expressions_.set(id), to}); return;
    case Form::choice:
      for (const ExpressionId part : expressions_.parts(id)) write(part, from, to);
      return;
    case Form::sequence:
      for (const ExpressionId part : expressions_.parts(id)) {
        const std::uint32_t next = place();
        write(part, from, next);
        from = next;
      }
      moves_[from].push_back({nullptr, to});
      return;
    case Form::repeat: return write_repeat(id, from, to);
    default: moves_[from].push_back({nullptr, to}); return;
  }
  moves_[from].push_back({singles_.back().get(), to});
}

void Places::write_repeat(ExpressionId id, std::uint32_t from, std::uint32_t to) {
  const Expressions::Node& node = expressions_[id];
  const ExpressionId part = expressions_.parts(id)[0];
  const std::uint32_t rounds = node.most == unbounded ? node.least : node.most;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (round >= node.least) moves_[from].push_back({nullptr, to});
    const std::uint32_t next = place();
    write(part, from, next);
    from = next;
  }
  if (node.most == unbounded) {
    const std::uint32_t loop = place(), back = place();
    moves_[from].push_back({nullptr, loop});
    write(part, loop, back);
    moves_[back].push_back({nullptr, loop});
    from = loop;
  }
  moves_[from].push_back({nullptr, to});
}

}  // namespace inlay::text

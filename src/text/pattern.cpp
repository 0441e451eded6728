#include "text/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstddef>
#include <limits>
#include <new>
#include <string>

#include "inlay/error.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t first_stack = 32 * 1024, largest_stack = 16 * 1024 * 1024;  // bytes, of compiled expressions
constexpr std::uint32_t largest_heap = 64 * 1024;                                 // KiB, of interpreted ones

// PCRE2's own \s also has U+180E, which is not White_Space.
std::string with_exact_spaces(std::string_view expression) {
  constexpr std::string_view spaces =
      R"(\t-\r\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c != '\\') {
      in_class = in_class ? c != ']' : c == '[';
      out += c;
      continue;
    }
    const char escaped = expression[++i];
    if (escaped != 's' && escaped != 'S') {
      out.append({c, escaped});
    } else {
      if (!in_class) out += escaped == 's' ? "[" : "[^";
      out += spaces;
      if (!in_class) out += ']';
    }
  }
  return out;
}

// Each piece begins with its size, which PCRE2 does not say when it gives the piece back.
constexpr std::size_t head = alignof(std::max_align_t);

void* take(PCRE2_SIZE bytes, void* memory) noexcept try {
  auto* piece = static_cast<std::byte*>(static_cast<std::pmr::memory_resource*>(memory)->allocate(head + bytes, head));
  new (piece) std::size_t(head + bytes);
  return piece + head;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void give_back(void* piece, void* memory) noexcept {
  if (!piece) return;
  auto* begin = static_cast<std::byte*>(piece) - head;
  static_cast<std::pmr::memory_resource*>(memory)->deallocate(begin, *reinterpret_cast<std::size_t*>(begin), head);
}

// What tells PCRE2 to take its memory from a resource. What is made by it goes on doing so when this is gone.
class OfResource {
 public:
  explicit OfResource(std::pmr::memory_resource* memory)
      : general_(pcre2_general_context_create(take, give_back, memory)) {
    if (!general_) throw std::bad_alloc();
  }
  ~OfResource() {
    pcre2_compile_context_free(compile_);
    pcre2_general_context_free(general_);
  }
  OfResource(const OfResource&) = delete;
  OfResource& operator=(const OfResource&) = delete;

  pcre2_general_context* general() const { return general_; }
  pcre2_compile_context* compile() {
    compile_ = pcre2_compile_context_create(general_);
    return compile_ ? compile_ : throw std::bad_alloc();
  }

 private:
  pcre2_general_context* general_;
  pcre2_compile_context* compile_ = nullptr;
};

}  // namespace

struct Pattern::State {
  State(const std::string& expression, std::pmr::memory_resource* memory);
  ~State() { pcre2_code_free(code); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  pcre2_code* code;
};

struct Pattern::Scratch::State {
  explicit State(pcre2_general_context* memory)
      : match(pcre2_match_data_create(1, memory)),
        context(pcre2_match_context_create(memory)),
        stack(pcre2_jit_stack_create(first_stack, largest_stack, memory)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  pcre2_match_data* match;
  pcre2_match_context* context;
  pcre2_jit_stack* stack;

  ~State() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
  }
};

Pattern::Scratch::Scratch(std::pmr::memory_resource* memory)
    : state_(base::make<State>(memory, OfResource(memory).general())) {
  if (!state_->match || !state_->context) throw std::bad_alloc();
  // No limit on steps: the expressions take linear time, and valid text is never refused.
  pcre2_set_match_limit(state_->context, std::numeric_limits<std::uint32_t>::max());
  pcre2_set_heap_limit(state_->context, largest_heap);
  pcre2_jit_stack_assign(state_->context, nullptr, state_->stack);
}
Pattern::Scratch::~Scratch() = default;

Pattern::State::State(const std::string& expression, std::pmr::memory_resource* memory) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE;
  code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), options, &error, &offset,
                       OfResource(memory).compile());
  if (error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
  if (!code) throw Error(Errc::unsupported, "PCRE2 does not take the expression " + expression, Fault::unsupported);
  // Where there is no compiler for this machine, matching interprets.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
}

Pattern::Pattern(std::string_view expression, std::pmr::memory_resource* memory)
    : state_(base::make<const State>(memory, with_exact_spaces(expression), memory)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

std::optional<Range> Pattern::find(std::string_view text, std::size_t from, Scratch& scratch) const {
  const auto match = [&](std::uint32_t options) {
    return pcre2_match(state_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                       PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | options, scratch.state_->match, scratch.state_->context);
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result < 0) throw Error(Errc::memory, "cutting the text into words needs too much memory");
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch.state_->match);
  return Range{ends[0], ends[1]};
}

}  // namespace inlay::text

// Parts of values: slices as Python counts them, and paths of attributes.
#include <algorithm>

#include "text/jinja_machine.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

struct Slice {
  std::int64_t begin, step, count;
};

Slice sliced(const Value& begin, const Value& end, const Value& step, std::size_t size) {
  for (const Value* bound : {&begin, &end, &step}) {
    if (!bound->is_whole() && !bound->is(Type::none)) fail(Trouble::type, "the bounds of a slice must be integers");
  }
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t stride = std::clamp<std::int64_t>(step.is(Type::none) ? 1 : step.whole(), -count - 1, count + 1);
  if (stride == 0) fail(Trouble::arithmetic, "the step of a slice is zero");
  const std::int64_t lowest = stride > 0 ? 0 : -1, highest = stride > 0 ? count : count - 1;
  const auto bounded = [&](const Value& bound, std::int64_t standard) {
    if (bound.is(Type::none)) return standard;
    const std::int64_t at = bound.whole();
    return std::clamp(at < 0 ? std::max(at, -count - 1) + count : std::min(at, count), lowest, highest);
  };
  const std::int64_t first = bounded(begin, stride > 0 ? lowest : highest);
  const std::int64_t last = bounded(end, stride > 0 ? highest : lowest);
  const std::int64_t distance = stride > 0 ? last - first : first - last, pace = stride > 0 ? stride : -stride;
  return {first, stride, distance <= 0 ? 0 : (distance + pace - 1) / pace};
}

Value text_slice(const Machine& machine, const Value& value, const Value& begin, const Value& end, const Value& step) {
  const std::string_view bytes = machine.bytes(value.text);
  machine.budget().work_on_text(bytes.size());
  const Slice part = sliced(begin, end, step, code_point_count(bytes));
  Value result = value;
  if (part.step == 1) {
    const std::size_t first = byte_offset(bytes, static_cast<std::size_t>(part.begin));
    const std::size_t size = byte_offset(bytes.substr(first), static_cast<std::size_t>(part.count));
    result.text = Text::slice(machine.arena, value.text, first, first + size);
    return result;
  }
  const List& all = machine.items(value);
  TextBuilder picked(machine.arena);
  for (std::int64_t i = 0; i < part.count; ++i) {
    picked.append(all[static_cast<std::size_t>(part.begin + i * part.step)].text);
  }
  result.text = picked.finish();
  return result;
}

}  // namespace

Value Machine::slice(const Value& value, const Value& begin, const Value& end, const Value& step) const {
  if (value.is(Type::undefined)) fail_undefined(value);
  if (value.is(Type::string)) return text_slice(*this, value, begin, end, step);
  if (!value.is(Type::list) && !value.is(Type::tuple) && !value.is(Type::range)) {
    fail(Trouble::type, "a value that is " + std::string(type_name(value)) + " has no slices");
  }
  const List& all = items(value);
  const Slice part = sliced(begin, end, step, all.size());
  List* picked = new_list(static_cast<std::size_t>(part.count));
  budget().work(static_cast<std::size_t>(part.count));
  for (std::int64_t i = 0; i < part.count; ++i) {
    picked->append(arena, all[static_cast<std::size_t>(part.begin + i * part.step)]);
  }
  return Value::of(picked, value.is(Type::tuple) ? Type::tuple : Type::list);
}

Value at_path(const Machine& machine, Value value, const Value* path, const Value* standard) {
  if (!path || path->is(Type::none)) return value;
  if (!path->is(Type::string)) return machine.element(value, *path);
  const List* parts = split(machine, path->text, Text::flat(machine.arena, ".", Origin::template_text), -1, Side::left);
  for (const Value& part : *parts) {
    const std::string_view name = machine.bytes(part.text);
    const bool is_index = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
    std::int64_t index = 0;
    for (const char digit : name.substr(0, is_index ? name.size() : 0)) index = index * 10 + (digit - '0');
    value = machine.element(value, is_index ? Value::of(index) : part);
    if (value.is(Type::undefined) && standard && !standard->is(Type::none)) return *standard;
  }
  return value;
}

}  // namespace inlay::text::jinja

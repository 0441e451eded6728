// Lists, dicts, equality and order of values, as Python has them.
#include "text/jinja_value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace inlay::text::jinja {
namespace {

constexpr int deepest_value = 100;
constexpr std::uint32_t few = 8;  // keys that are found faster by looking at each

bool same_text(Arena& arena, TextRef a, TextRef b) {
  if (a->size() != b->size()) return false;
  arena.budget().work_on_text(a->size());
  return a->bytes(arena) == b->bytes(arena);
}

bool equal_lists(Arena& arena, const List& a, const List& b, int depth) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(arena, a[i], b[i], depth + 1)) return false;
  }
  return true;
}

bool equal_dicts(Arena& arena, const Dict& a, const Dict& b, int depth) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(arena, key);
    if (!other || !equal(arena, value, *other, depth + 1)) return false;
  }
  return true;
}

std::size_t combine(std::size_t seed, std::size_t more) { return (seed ^ more) * 0x9E3779B97F4A7C15u + (seed >> 29); }

std::size_t hash_bytes(Arena& arena, std::string_view bytes) {
  arena.budget().work_on_text(bytes.size());
  return std::hash<std::string_view>{}(bytes);
}

int sign(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

}  // namespace

void check_depth(Arena& arena, int depth) {
  arena.budget().work(1);
  if (depth > deepest_value) fail(Trouble::limit, "a value of the template is nested too deeply");
}

void List::reserve(Arena& arena, std::size_t size) {
  if (size <= capacity_) return;
  const std::size_t capacity = std::max<std::size_t>({size, 2 * std::size_t{capacity_}, 4});
  Value* items = arena.array<Value>(capacity);
  std::copy(begin(), end(), items);
  items_ = items;
  capacity_ = static_cast<std::uint32_t>(capacity);
}

void List::append(Arena& arena, const Value& value) {
  const Value kept = value;  // it may be one of ours
  reserve(arena, size_ + std::size_t{1});
  items_[size_++] = kept;
}

void List::insert(Arena& arena, std::size_t at, const Value& value) {
  append(arena, value);
  std::rotate(items_ + at, items_ + size_ - 1, items_ + size_);
}

void List::erase(std::size_t at) {
  std::move(items_ + at + 1, items_ + size_, items_ + at);
  --size_;
}

template <class Matches>
Dict::Entry* Dict::search(std::size_t hash, Matches matches) const {
  if (slot_count_ == 0) {
    const auto found = std::find_if(entries_, entries_ + size_, [&](const Entry& entry) { return matches(entry.key); });
    return found == entries_ + size_ ? nullptr : found;
  }
  for (std::size_t slot = hash % slot_count_; slots_[slot] != 0; slot = (slot + 1) % slot_count_) {
    if (Entry* entry = &entries_[slots_[slot] - 1]; matches(entry->key)) return entry;
  }
  return nullptr;
}

const Value* Dict::find(Arena& arena, const Value& key) const {
  const std::size_t code = hash(arena, key);
  Entry* entry = search(code, [&](const Value& other) { return equal(arena, key, other); });
  return entry ? &entry->value : nullptr;
}

const Value* Dict::find(Arena& arena, std::string_view key) const {
  const std::size_t code = slot_count_ ? combine(0, hash_bytes(arena, key)) : 0;
  Entry* entry = search(code, [&](const Value& other) {
    arena.budget().work(1);
    return other.is(Type::string) && other.text->bytes(arena) == key;
  });
  return entry ? &entry->value : nullptr;
}

void Dict::set(Arena& arena, const Value& key, const Value& value) {
  if (const Value* present = find(arena, key)) {
    *const_cast<Value*>(present) = value;
    return;
  }
  if (size_ == capacity_) grow(arena);
  entries_[size_++] = {key, value};
  if (size_ > few && 2 * size_ > slot_count_) {
    index(arena);
  } else if (slot_count_) {
    std::size_t slot = hash(arena, key) % slot_count_;
    while (slots_[slot] != 0) slot = (slot + 1) % slot_count_;
    slots_[slot] = size_;
  }
}

void Dict::grow(Arena& arena) {
  const std::uint32_t capacity = std::max(2 * capacity_, 4u);
  Entry* entries = arena.array<Entry>(capacity);
  std::copy(entries_, entries_ + size_, entries);
  entries_ = entries;
  capacity_ = capacity;
}

void Dict::index(Arena& arena) {
  slot_count_ = 4 * size_;
  slots_ = arena.array<std::uint32_t>(slot_count_);
  std::fill_n(slots_, slot_count_, 0);
  for (std::uint32_t i = 0; i < size_; ++i) {
    std::size_t slot = hash(arena, entries_[i].key) % slot_count_;
    while (slots_[slot] != 0) slot = (slot + 1) % slot_count_;
    slots_[slot] = i + 1;
  }
}

void Dict::erase(Arena& arena, const Value* value) {
  Entry* const entry =
      std::find_if(entries_, entries_ + size_, [&](const Entry& each) { return &each.value == value; });
  std::move(entry + 1, entries_ + size_, entry);
  --size_;
  arena.budget().work(1 + size_);
  if (slot_count_) index(arena);
}

std::string_view type_name(const Value& value) {
  switch (value.type) {
    case Type::undefined: return "undefined";
    case Type::none: return "none";
    case Type::boolean: return "boolean";
    case Type::integer:
    case Type::huge: return "integer";
    case Type::real: return "float";
    case Type::string: return "string";
    case Type::list: return "list";
    case Type::tuple: return "tuple";
    case Type::dict: return "dict";
    case Type::view: return "dict view";
    case Type::range: return "range";
    case Type::generator: return "generator";
    case Type::space: return "namespace";
    case Type::loop: return "loop";
    case Type::function:
    case Type::method: return "function";
    case Type::macro: return "macro";
  }
  return "value";
}

bool equal(Arena& arena, const Value& a, const Value& b, int depth) {
  check_depth(arena, depth);
  if (a.is_number() && b.is_number()) {
    if (a.is_whole() && b.is_whole()) return a.whole() == b.whole();
    return a.number() == b.number();
  }
  if (a.type != b.type) return false;
  switch (a.type) {
    case Type::undefined:
    case Type::none: return true;
    case Type::huge:
    case Type::string: return same_text(arena, a.text, b.text);
    case Type::list:
    case Type::tuple:
    case Type::view: return equal_lists(arena, *a.items, *b.items, depth);
    case Type::dict: return equal_dicts(arena, *a.dict, *b.dict, depth);
    case Type::range:
      return a.range->at(0) == b.range->at(0) && a.range->count == b.range->count && a.range->step == b.range->step;
    default: return a.dict == b.dict;  // the same object
  }
}

int compare(Arena& arena, const Value& a, const Value& b, int depth) {
  check_depth(arena, depth);
  if (a.is_whole() && b.is_whole()) return sign(a.whole(), b.whole());
  if (a.is_number() && b.is_number()) return sign(a.number(), b.number());
  if (a.is(Type::string) && b.is(Type::string)) {
    arena.budget().work_on_text(std::min(a.text->size(), b.text->size()));
    return a.text->bytes(arena).compare(b.text->bytes(arena));  // UTF-8 sorts as its code points do
  }
  if (a.type == b.type && (a.is(Type::list) || a.is(Type::tuple))) {
    for (std::size_t i = 0; i < std::min(a.items->size(), b.items->size()); ++i) {
      const Value &left = (*a.items)[i], &right = (*b.items)[i];
      if (!equal(arena, left, right, depth + 1)) return compare(arena, left, right, depth + 1);
    }
    return sign(a.items->size(), b.items->size());
  }
  fail(a.is(Type::undefined) || b.is(Type::undefined) ? Trouble::undefined : Trouble::type,
       "there is no order between " + std::string(type_name(a)) + " and " + std::string(type_name(b)));
}

std::size_t hash(Arena& arena, const Value& value, int depth) {
  check_depth(arena, depth);
  switch (value.type) {
    case Type::boolean:
    case Type::integer: return combine(1, static_cast<std::size_t>(value.whole()));
    case Type::real:  // a float that is a whole number is the same key as that integer
      if (value.real == std::floor(value.real) && std::abs(value.real) < 9e18) {
        return combine(1, static_cast<std::size_t>(static_cast<std::int64_t>(value.real)));
      }
      return combine(2, std::bit_cast<std::uint64_t>(value.real));
    case Type::huge:
    case Type::string: return combine(0, hash_bytes(arena, value.text->bytes(arena)));
    case Type::tuple: {
      std::size_t code = 3;
      for (const Value& item : *value.items) code = combine(code, hash(arena, item, depth + 1));
      return code;
    }
    case Type::list:
    case Type::dict:
    case Type::view: fail(Trouble::type, "a " + std::string(type_name(value)) + " cannot be the key of a dict");
    default: return static_cast<std::size_t>(value.type);
  }
}

}  // namespace inlay::text::jinja

// The values a template computes with: a closed set, all of them in one arena, none of them able to reach the host.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "text/jinja_text.hpp"

namespace inlay::text::jinja {

enum class Type : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  huge,  // an integer of the input beyond 64 bits: it is printed and compared, never computed with
  real,
  string,
  list,
  tuple,
  dict,
  view,  // what a dict's keys(), values() and items() give
  range,
  generator,  // what lazy filters give: it can be read once
  space,      // a namespace()
  loop,
  function,
  method,
  macro
};

struct Value;
class Dict;
struct Range;
struct Generator;
struct LoopState;
struct FunctionEntry;
struct BoundMethod;
struct MacroValue;

// Grows in place; whoever holds a reference sees it grow, as in Python.
class List {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Value* begin() const { return items_; }
  const Value* end() const;
  const Value& operator[](std::size_t at) const;
  Value& operator[](std::size_t at);

  void reserve(Arena& arena, std::size_t size);
  void append(Arena& arena, const Value& value);
  void insert(Arena& arena, std::size_t at, const Value& value);
  void erase(std::size_t at);
  void clear() { size_ = 0; }

 private:
  Value* items_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

struct Value {
  Type type = Type::undefined;
  bool safe = false;  // a string that went through `safe` or `escape`: joining it with + escapes the rest
  Origin origin = Origin::template_text;  // of numbers, booleans and none; a string knows for each byte
  union {
    TextRef text = nullptr;  // string; huge: its digits; undefined: the name of what is missing, or null
    bool boolean;
    std::int64_t integer;
    double real;
    List* items;  // list, tuple, view
    Dict* dict;   // dict, space
    const Range* range;
    Generator* generator;
    LoopState* loop;
    const FunctionEntry* function;
    const BoundMethod* method;
    const MacroValue* macro;
  };

  static Value none() { return of(Type::none); }
  static Value of(Type type) {
    Value value;
    value.type = type;
    return value;
  }
  static Value missing(TextRef name) {
    Value value;
    value.text = name;
    return value;
  }
  static Value of(bool boolean) {
    Value value = of(Type::boolean);
    value.boolean = boolean;
    return value;
  }
  static Value of(std::int64_t integer) {
    Value value = of(Type::integer);
    value.integer = integer;
    return value;
  }
  static Value of(double real) {
    Value value = of(Type::real);
    value.real = real;
    return value;
  }
  static Value of(TextRef text) {
    Value value = of(Type::string);
    value.text = text;
    return value;
  }
  static Value of(List* items, Type type = Type::list) {
    Value value = of(type);
    value.items = items;
    return value;
  }
  static Value of(Dict* dict, Type type = Type::dict) {
    Value value = of(type);
    value.dict = dict;
    return value;
  }
  static Value size(std::size_t count) { return of(static_cast<std::int64_t>(count)); }

  bool is(Type other) const { return type == other; }
  bool is_number() const { return is(Type::integer) || is(Type::real) || is(Type::boolean); }
  bool is_whole() const { return is(Type::integer) || is(Type::boolean); }
  bool has_items() const { return is(Type::list) || is(Type::tuple) || is(Type::view); }
  std::int64_t whole() const { return is(Type::boolean) ? boolean : integer; }
  double number() const { return is(Type::real) ? real : static_cast<double>(whole()); }
};

// Keys in the order they came, found by hash once there are more than a few.
class Dict {
 public:
  struct Entry {
    Value key;
    Value value;
  };

  std::span<const Entry> entries() const { return {entries_, size_}; }
  std::size_t size() const { return size_; }
  const Value* find(Arena& arena, const Value& key) const;
  const Value* find(Arena& arena, std::string_view key) const;
  void set(Arena& arena, const Value& key, const Value& value);
  void erase(Arena& arena, const Value* value);  // as given by find
  void clear() { size_ = 0, slot_count_ = 0; }
  // For changes that leave the keys equal to what they were.
  template <class Visit>
  void each(Visit visit) {
    for (Entry* entry = entries_; entry != entries_ + size_; ++entry) visit(*entry);
  }

 private:
  template <class Matches>
  Entry* search(std::size_t hash, Matches matches) const;
  void grow(Arena& arena);
  void index(Arena& arena);

  Entry* entries_ = nullptr;
  std::uint32_t* slots_ = nullptr;  // 1 + the entry's number; 0 is free
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t slot_count_ = 0;
};

struct Range {
  std::int64_t start, stop, step, count;
  std::int64_t at(std::int64_t index) const { return start + step * index; }
};

struct Generator {
  List* items;
  bool read = false;
};

inline const Value* List::end() const { return items_ + size_; }
inline const Value& List::operator[](std::size_t at) const { return items_[at]; }
inline Value& List::operator[](std::size_t at) { return items_[at]; }

// What Python calls the type; for messages.
std::string_view type_name(const Value& value);

// Throw Error for values that contain themselves, or that are nested deeper than anything reasonable.
bool equal(Arena& arena, const Value& a, const Value& b, int depth = 0);
// Python's ordering: below 0, 0, above 0. Throws for values without one.
int compare(Arena& arena, const Value& a, const Value& b, int depth = 0);
std::size_t hash(Arena& arena, const Value& value, int depth = 0);

// Counts one step, and throws where a value is nested deeper than anything reasonable.
void check_depth(Arena& arena, int depth);

}  // namespace inlay::text::jinja

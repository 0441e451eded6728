// The filters, tests, methods and functions that templates may call, found by name.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

struct FilterEntry {
  std::string_view name;
  Value (*apply)(const Machine& machine, const Value& value, const Arguments& arguments);
};

struct TestEntry {
  std::string_view name;
  bool (*holds)(const Machine& machine, const Value& value, const Arguments& arguments);
};

// Like a filter; `self` is what the method was looked up on.
struct MethodEntry {
  std::string_view name;
  Value (*call)(const Machine& machine, const Value& self, const Arguments& arguments);
  bool changes_self = false;  // transformers' sandbox refuses these
};

struct FunctionEntry {
  std::string_view name;
  Value (*call)(const Machine& machine, const Arguments& arguments);
};

std::span<const FilterEntry> text_filters();
std::span<const FilterEntry> number_filters();
std::span<const FilterEntry> list_filters();
std::span<const FilterEntry> order_filters();
std::span<const MethodEntry> text_methods();

// Null where there is none of that name.
const FilterEntry* find_filter(std::string_view name);
const TestEntry* find_test(std::string_view name);
const MethodEntry* find_method(Type type, std::string_view name);
const FunctionEntry* find_function(std::string_view name);

}  // namespace inlay::text::jinja

// Reads tools as templates are given them: [{"type": "function", "function": {"name", "parameters"}}].
#include "text/call_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inlay/error.hpp"

namespace inlay::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 64;

[[noreturn]] void refuse_tools(const std::string& what, Fault fault = Fault::bad_value) {
  throw Error(Errc::argument, what, fault, "tools");
}

Grammar grammar_of(const Json& schema) {
  return Grammar::json_schema(schema.dump(-1, ' ', false, Json::error_handler_t::replace), Unsupported::ignore);
}

const Json* find(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() ? &*at : nullptr;
}

// A part of a schema with the definitions of the whole, so that its references lead somewhere.
Json with_definitions(Json part, const Json& whole) {
  for (const char* key : {"$defs", "definitions"}) {
    const Json* definitions = find(whole, key);
    if (definitions && part.is_object() && !part.contains(key)) part[key] = *definitions;
  }
  return part;
}

Grammar grammar_of_part(const Json& part, const Json& whole) {
  try {
    return grammar_of(with_definitions(part, whole));
  } catch (const Error&) {
    return Grammar::json();  // it refers to something else of the whole
  }
}

// What no list can have is no limit.
std::uint32_t count(const Json& schema, const char* key, std::uint32_t otherwise) {
  constexpr std::uint64_t most = 1u << 20;
  const Json* value = find(schema, key);
  return value && value->is_number_unsigned() && *value <= most ? value->get<std::uint32_t>() : otherwise;
}

CallValue value_of(const Json& schema, const Json& whole);

void read_members(const Json& schema, const Json& whole, CallValue& value) {
  const Json* properties = find(schema, "properties");
  if (!properties || !properties->is_object()) return;
  const Json* required = find(schema, "required");
  for (const auto& [name, part] : properties->items()) {
    const bool needed = required && std::ranges::find(*required, Json(name)) != required->end();
    value.members.push_back({name, value_of(part, whole), needed});
  }
}

bool all_texts(const Json& list) {
  return list.is_array() && !list.empty() &&
         std::ranges::all_of(list, [](const Json& each) { return each.is_string(); });
}

// Whether a schema says more than its type, and what it is for.
bool says_something(const Json& schema) {
  constexpr std::string_view idle[] = {"type",     "title",      "description", "default",  "examples",
                                       "$comment", "deprecated", "readOnly",    "writeOnly"};
  return schema.is_object() && std::ranges::any_of(schema.items(), [&](const auto& member) {
           return std::ranges::find(idle, member.key()) == std::end(idle);
         });
}

// Texts, and what holds no texts, is told by the type that the schema names; all else may be anything.
CallValue value_of(const Json& schema, const Json& whole) {
  CallValue value;
  const Json *type = find(schema, "type"), *choices = find(schema, "enum");
  const bool named = type && type->is_string();
  const auto name = named ? type->get<std::string>() : std::string();
  if (name == "string" || !named) {
    const bool is_text = named || (choices && all_texts(*choices));
    if (is_text) value.kind = CallValue::Kind::text;
    if (!says_something(schema) && !type) return value;
    if (is_text && !says_something(schema)) return value;
    value.texts = with_definitions(schema, whole).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!is_text) value.json = grammar_of_part(schema, whole);
    return value;
  }
  value.json = grammar_of_part(schema, whole);
  value.kind = CallValue::Kind::json;
  if (name == "array") {
    value.kind = CallValue::Kind::list;
    const Json* items = find(schema, "items");
    value.element.push_back(items ? value_of(*items, whole) : CallValue());
    value.least = count(schema, "minItems", 0), value.most = count(schema, "maxItems", unbounded);
  } else if (name == "object") {
    value.kind = CallValue::Kind::object;
    read_members(schema, whole, value);
  }
  return value;
}

CallTool tool_of(const Json& given) {
  const Json* inner = find(given, "function");
  const Json& function = inner && inner->is_object() ? *inner : given;
  const Json* name = find(function, "name");
  if (!name || !name->is_string() || name->get_ref<const std::string&>().empty())
    refuse_tools("a tool has no name", Fault::missing_key);
  CallTool tool;
  tool.name = name->get<std::string>();
  const Json* parameters = find(function, "parameters");
  const Json schema = parameters && parameters->is_object() ? *parameters : Json{{"type", "object"}};
  try {
    tool.arguments = grammar_of(schema);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("the parameters of the tool '{}': {}", tool.name, error.what()),
                error.fault(), error.where());
  }
  tool.value.kind = CallValue::Kind::object;
  read_members(schema, schema, tool.value);
  return tool;
}

}  // namespace

std::vector<CallTool> parse_call_tools(std::string_view tools, std::string_view only) {
  std::vector<CallTool> all;
  if (tools.empty()) {
    if (!only.empty()) refuse_tools(fmt::format("there is no tool '{}'", only), Fault::missing_key);
    return all;
  }
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) refuse_tools("the tools are nested too deeply", Fault::limit);
    return true;
  };
  const Json list = Json::parse(tools, shallow, false);
  if (!list.is_array()) refuse_tools("the tools are not a JSON list");
  for (const Json& given : list) {
    CallTool tool = tool_of(given);
    if (only.empty() || tool.name == only) all.push_back(std::move(tool));
  }
  if (all.empty() && !only.empty()) refuse_tools(fmt::format("there is no tool '{}'", only), Fault::missing_key);
  return all;
}

}  // namespace inlay::text

// Reads JSON event by event, so that its depth costs no stack.
#include "text/jinja_json.hpp"

#include <nlohmann/json.hpp>

#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

constexpr std::size_t deepest_json = 64;

class Reader {
 public:
  using Json = nlohmann::json;

  Reader(const Machine& machine, Origin origin, std::string_view field)
      : machine_(machine), origin_(origin), field_(field) {}

  Value root() const { return root_; }

  bool null() { return add(Value::none()); }
  bool boolean(bool value) { return add(Value::of(value)); }
  bool number_integer(Json::number_integer_t value) { return add(Value::of(std::int64_t{value})); }
  bool number_unsigned(Json::number_unsigned_t value) {
    return value <= INT64_MAX ? add(Value::of(static_cast<std::int64_t>(value))) : huge(std::to_string(value));
  }
  bool number_float(Json::number_float_t value, const std::string& digits) {
    return digits.find_first_of(".eE") == digits.npos ? huge(digits) : add(Value::of(value));
  }
  bool string(std::string& value) { return add(machine_.text(value, origin_)); }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(Value::of(machine_.arena.make<Dict>())); }
  bool start_array(std::size_t) { return open(Value::of(machine_.new_list())); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    keys_.back() = machine_.text(name, origin_);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) {
    fail(Trouble::input, std::string(field_) + " is not valid JSON at byte " + std::to_string(position));
  }

 private:
  bool huge(const std::string& digits) {
    Value value = machine_.text(digits, origin_);
    value.type = Type::huge;
    return add(value);
  }

  bool add(Value value) {
    machine_.budget().work(1);
    value.origin = origin_;
    if (open_.empty()) {
      root_ = value;
    } else if (open_.back().is(Type::dict)) {
      open_.back().dict->set(machine_.arena, keys_.back(), value);
    } else {
      open_.back().items->append(machine_.arena, value);
    }
    return true;
  }

  bool open(const Value& container) {
    if (open_.size() == deepest_json) {
      fail(Trouble::limit, std::string(field_) + " is nested deeper than " + std::to_string(deepest_json) + " levels");
    }
    add(container);
    open_.push_back(container);
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  const Machine& machine_;
  Origin origin_;
  std::string_view field_;
  Value root_;
  std::vector<Value> open_;
  std::vector<Value> keys_;  // of the dicts among them
};

struct Role {
  std::string_view name;
  Origin origin;
};

constexpr Role roles[] = {
    {"system", Origin::system},    {"developer", Origin::system},    {"user", Origin::user},
    {"human", Origin::user},       {"assistant", Origin::assistant}, {"model", Origin::assistant},
    {"tool", Origin::tool},        {"ipython", Origin::tool},        {"function", Origin::tool},
    {"observation", Origin::tool}, {"tool_response", Origin::tool},
};

const Role* role_of(const Machine& machine, const Value& message) {
  if (!message.is(Type::dict)) return nullptr;
  const Value* role = message.dict->find(machine.arena, "role");
  if (!role || !role->is(Type::string)) return nullptr;
  const auto* found = std::find_if(std::begin(roles), std::end(roles),
                                   [&](const Role& each) { return each.name == machine.bytes(role->text); });
  return found == std::end(roles) ? nullptr : found;
}

// Gives everything within a value another origin.
void reclaim(const Machine& machine, const Value& root, Origin origin) {
  const auto claim = [&](const Value& value) {
    Value claimed = value;
    claimed.origin = origin;
    if (value.is(Type::string)) claimed.text = Text::flat(machine.arena, machine.bytes(value.text), origin);
    return claimed;
  };
  std::vector<Value> left_to_do{root};
  while (!left_to_do.empty()) {
    const Value container = left_to_do.back();
    left_to_do.pop_back();
    const auto visit = [&](const Value& value) {
      if (value.is(Type::list) || value.is(Type::dict)) left_to_do.push_back(value);
      return claim(value);
    };
    if (container.is(Type::list)) {
      for (std::size_t i = 0; i < container.items->size(); ++i) (*container.items)[i] = visit((*container.items)[i]);
    } else if (container.is(Type::dict)) {
      container.dict->each([&](Dict::Entry& entry) { entry = {claim(entry.key), visit(entry.value)}; });
    }
  }
}

}  // namespace

Value from_json(const Machine& machine, std::string_view json, Origin origin, std::string_view field) {
  Reader reader(machine, origin, field);
  machine.budget().work_on_text(json.size());
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    fail(Trouble::input, std::string(field) + " is not valid JSON");
  }
  return reader.root();
}

Value messages_from_json(const Machine& machine, std::string_view json) {
  const Value messages = from_json(machine, json, Origin::other, "messages");
  if (!messages.is(Type::list)) return messages;
  for (const Value& message : *messages.items) {
    const Role* role = role_of(machine, message);
    if (!role) continue;
    reclaim(machine, message, role->origin);
    // A well-known role is a word of the template's own language: templates build control tokens from it.
    message.dict->set(machine.arena, machine.text("role"), machine.text(role->name));
  }
  return messages;
}

}  // namespace inlay::text::jinja

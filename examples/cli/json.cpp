// Reading requests and writing answers.
#include "cli/json.hpp"

#include <limits>

namespace cli {
namespace {

constexpr int deepest = 64;  // of nested arrays and objects in a request

[[noreturn]] void refuse(const char* field, const char* expected) {
  throw inlay::Error(inlay::Errc::argument, std::string("field \"") + field + "\" must be " + expected,
                     inlay::Fault::wrong_type, field);
}

template <class Number>
std::vector<Number> whole_numbers(const Json& value, const char* field) {
  if (!value.is_array()) refuse(field, "a list of whole numbers");
  std::vector<Number> numbers;
  numbers.reserve(value.size());
  for (const auto& element : value) {
    const auto number = element.is_number_integer() ? element.get<std::int64_t>() : std::int64_t{-1};
    if (number < 0 || number > std::numeric_limits<Number>::max()) refuse(field, "a list of whole numbers from 0");
    numbers.push_back(static_cast<Number>(number));
  }
  return numbers;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Request::Request(std::string_view line) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest)
      throw inlay::Error(inlay::Errc::argument, "the request is nested too deeply", inlay::Fault::limit);
    return true;
  };
  object_ = Json::parse(line, shallow, false);
  if (!object_.is_object()) throw inlay::Error(inlay::Errc::argument, "the line is not a JSON object");
}

bool Request::has(const char* field) const {
  const auto found = object_.find(field);
  return found != object_.end() && !found->is_null();
}

bool Request::present(const char* field) const { return object_.contains(field); }

bool Request::flag(const char* field, bool otherwise) const {
  if (!has(field)) return otherwise;
  if (!object_[field].is_boolean()) refuse(field, "true or false");
  return object_[field].get<bool>();
}

double Request::number(const char* field, double otherwise) const {
  if (!has(field)) return otherwise;
  if (!object_[field].is_number()) refuse(field, "a number");
  return object_[field].get<double>();
}

std::int64_t Request::integer(const char* field, std::int64_t otherwise) const {
  if (!has(field)) return otherwise;
  if (!object_[field].is_number_integer()) refuse(field, "a whole number");
  return object_[field].get<std::int64_t>();
}

std::string Request::text(const char* field) const {
  const auto& value = json(field);
  if (!value.is_string()) refuse(field, "a string");
  return value.get<std::string>();
}

std::string Request::bytes(const char* field) const {
  const auto hexadecimal = std::string(field) + "_hex";
  if (!has(hexadecimal.c_str())) return text(field);
  const auto digits = text(hexadecimal.c_str());
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = i + 1 < digits.size() ? digit(digits[i + 1]) : -1;
    if (high < 0 || low < 0) refuse(hexadecimal.c_str(), "pairs of hexadecimal digits");
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

std::vector<std::string> Request::texts(const char* field) const {
  std::vector<std::string> texts;
  if (!has(field)) return texts;
  if (!object_[field].is_array()) refuse(field, "a list of strings");
  for (const auto& element : object_[field]) {
    if (!element.is_string()) refuse(field, "a list of strings");
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::vector<inlay::TokenId> Request::ids(const char* field) const {
  return whole_numbers<inlay::TokenId>(json(field), field);
}

std::vector<int> Request::integers(const char* field) const { return whole_numbers<int>(json(field), field); }

const Json& Request::json(const char* field) const {
  const auto& value = json_or_null(field);
  if (value.is_null()) refuse(field, "something other than null");
  return value;
}

const Json& Request::json_or_null(const char* field) const {
  if (!present(field)) {
    throw inlay::Error(inlay::Errc::argument, std::string("field \"") + field + "\" is missing",
                       inlay::Fault::missing_key, field);
  }
  return object_[field];
}

std::string hex(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    digits.push_back("0123456789abcdef"[static_cast<unsigned char>(byte) / 16]);
    digits.push_back("0123456789abcdef"[static_cast<unsigned char>(byte) % 16]);
  }
  return digits;
}

Json text_or_hex(const std::string& bytes) {
  try {
    static_cast<void>(Json(bytes).dump());  // throws where the bytes are no UTF-8
    return {{"text", bytes}};
  } catch (const Json::type_error&) {
    return {{"text_hex", hex(bytes)}};
  }
}

std::string print(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace cli

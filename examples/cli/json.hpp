// JSON as the machine forms use it: one request a line with errors that name the field, bytes as hexadecimal text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/inlay.hpp"

namespace cli {

using Json = nlohmann::ordered_json;

// The fields of one JSON object. A field that is absent or null has the value `otherwise`; one of another type is an
// Error{argument} that names it.
class Request {
 public:
  explicit Request(std::string_view line);

  bool has(const char* field) const;
  bool present(const char* field) const;  // null or not
  bool flag(const char* field, bool otherwise) const;
  double number(const char* field, double otherwise) const;
  std::int64_t integer(const char* field, std::int64_t otherwise) const;
  std::string text(const char* field) const;   // must be there
  std::string bytes(const char* field) const;  // `field`, or `field`_hex
  std::vector<std::string> texts(const char* field) const;
  std::vector<inlay::TokenId> ids(const char* field) const;
  std::vector<int> integers(const char* field) const;
  const Json& json(const char* field) const;          // must be there
  const Json& json_or_null(const char* field) const;  // must be present

 private:
  Json object_;
};

std::string hex(std::string_view bytes);
Json text_or_hex(const std::string& bytes);  // {"text"}, or {"text_hex"} where the bytes are no UTF-8
std::string print(const Json&);              // on one line; broken UTF-8 becomes U+FFFD

}  // namespace cli

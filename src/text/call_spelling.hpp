// How the families of models spell a call of a tool: the marks around its name and its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/chat_output.hpp"

namespace inlay::text {

// In these texts a line end stands for white space that may be missing, and that is short where it is not; # stands for
// letters and digits.
struct CallSpelling {
  enum class Arguments : std::uint8_t {
    json,   // an object
    tags,   // a pair of marks around each: texts as they are, other values as JSON
    gemma,  // an object of Gemma's own notation
  };

  std::string before_all = {};  // the first call of a message
  std::string opener = {};      // the mark of each call; empty: a message of calls begins without
  std::string before_name = {};
  std::vector<std::string> after_name = {};  // one of these
  Arguments arguments = Arguments::json;
  std::string key_begin = {}, key_end = {}, value_end = {};  // of tags
  std::vector<std::string> close = {};                       // one of these, after the arguments
  std::string between = {};                                  // one call and the next
  std::string after_all = {};                                // the last call of a message
  bool quotes_name = false;                                  // the name is a JSON string
  bool many = true;                                          // a message may have several calls
  bool in_list = false;                                      // [call, call] after one mark
};

// What the models of a template write; nothing where the family has no calls.
CallSpelling call_spelling(const OutputFormat& format, std::string_view source);

}  // namespace inlay::text

// Calls written as JSON objects, read one key at a time.
#include <nlohmann/json.hpp>

#include "text/chat_call_reader.hpp"

namespace inlay::text {
namespace {

constexpr std::string_view spaces = " \n\r\t";

void skip_spaces(std::string& raw, std::string& pending, std::string_view more = {}) {
  const std::size_t end = std::min(pending.find_first_not_of(std::string(spaces) + std::string(more)), pending.size());
  raw.append(pending, 0, end);
  pending.erase(0, end);
}

bool is_name_key(std::string_view key) { return key == "name" || key == "tool_name"; }
bool is_arguments_key(std::string_view key) { return key == "arguments" || key == "parameters" || key == "input"; }

}  // namespace

std::string CallReader::take(std::string& pending, std::size_t size) {
  std::string taken = pending.substr(0, size);
  pending.erase(0, size);
  raw_ += taken;
  return taken;
}

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::size_t JsonEnd::feed(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (is_done_) return at;
    if (in_string_) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (byte == '\\') {
        is_escaped_ = true;
      } else if (byte == '"') {
        in_string_ = false;
        is_done_ = depth_ == 0;
      }
      continue;
    }
    const bool is_space = spaces.find(byte) != spaces.npos;
    if (is_scalar_ && (is_space || byte == ',' || byte == '}' || byte == ']')) {
      is_done_ = true;
      return at;
    }
    if (byte == '"') in_string_ = true;
    if (byte == '{' || byte == '[') ++depth_;
    if (byte == '}' || byte == ']') is_done_ = --depth_ <= 0;
    if (!is_started_ && !is_space) is_scalar_ = byte != '"' && depth_ == 0;
    is_started_ |= !is_space;
  }
  return text.size();
}

CallReader::Status JsonCallReader::read(std::string& pending, bool at_end, OutputSink& sink) {
  while (status_ == Status::more && step(pending, at_end, sink)) {
  }
  if (status_ == Status::more && at_end) status_ = has_begun_ ? Status::done : Status::failed;
  return status_;
}

bool JsonCallReader::step(std::string& pending, bool at_end, OutputSink& sink) {
  if (state_ == State::arguments || state_ == State::skipped) {
    const std::string taken = take(pending, value_.feed(pending));
    if (state_ == State::arguments) add_arguments(taken, sink);
    if (value_.is_done()) state_ = State::key;
    return value_.is_done();
  }
  const bool may_end = state_ == State::between;
  skip_spaces(raw_, pending, state_ == State::between || state_ == State::key ? ",;" : "");
  if (pending.empty()) return false;
  if (state_ == State::key) return read_key(pending, sink);
  if (state_ == State::value) return read_value(pending, sink);
  if (pending[0] == '{') {
    take(pending, 1);
    state_ = State::key;
    has_begun_ = false;
    name_.clear(), early_arguments_.clear();
  } else if (state_ == State::start && pending[0] == '[' && !in_list_) {
    take(pending, 1);
    in_list_ = true;
  } else if (in_list_ && pending[0] == ']') {
    take(pending, 1);
    status_ = may_end ? Status::done : Status::failed;
  } else {
    status_ = may_end ? Status::done : Status::failed;
  }
  return !at_end || !pending.empty();
}

bool JsonCallReader::read_text(std::string& pending, std::string& text) {
  JsonEnd end;
  const std::size_t size = end.feed(pending);
  if (!end.is_done()) return false;
  const auto parsed = nlohmann::json::parse(take(pending, size), nullptr, false);
  if (!parsed.is_string()) {
    status_ = Status::failed;
  } else {
    text = parsed.get<std::string>();
  }
  return true;
}

bool JsonCallReader::read_key(std::string& pending, OutputSink& sink) {
  if (pending[0] == '}') {
    take(pending, 1);
    if (nested_ > 0) {
      --nested_;
    } else {
      end_object(sink);
    }
    return true;
  }
  if (pending[0] == ':') {
    take(pending, 1);
    state_ = State::value;
    return true;
  }
  if (pending[0] != '"') {
    status_ = has_begun_ ? Status::done : Status::failed;
    return true;
  }
  return read_text(pending, key_);
}

bool JsonCallReader::read_value(std::string& pending, OutputSink& sink) {
  const bool is_text = pending[0] == '"';
  if (key_ == "function" && pending[0] == '{') {
    take(pending, 1);
    ++nested_;
    state_ = State::key;
  } else if (is_text && (is_name_key(key_) || key_ == "function")) {
    if (!read_text(pending, name_)) return false;
    state_ = State::key;
  } else if (is_text && is_arguments_key(key_)) {  // JSON within a string
    std::string arguments;
    if (!read_text(pending, arguments)) return false;
    add_arguments(arguments, sink);
    state_ = State::key;
  } else {
    value_ = {};
    state_ = is_arguments_key(key_) ? State::arguments : State::skipped;
  }
  return true;
}

void JsonCallReader::begin(OutputSink& sink) {
  has_begun_ = true;
  is_marked_ = true;
  raw_.clear();
  sink.begin_call(name_);
}

void JsonCallReader::add_arguments(std::string_view text, OutputSink& sink) {
  if (name_.empty()) {
    early_arguments_ += text;
    return;
  }
  if (!has_begun_) begin(sink);
  sink.arguments(text);
}

void JsonCallReader::end_object(OutputSink& sink) {
  if (!has_begun_ && (name_.empty() || (!is_marked_ && early_arguments_.empty()))) {
    status_ = Status::failed;
    return;
  }
  if (!has_begun_) {
    begin(sink);
    sink.arguments(early_arguments_.empty() ? "{}" : early_arguments_);
  }
  raw_.clear();
  state_ = State::between;
}

}  // namespace inlay::text

// The ways in which reading ends early, each a sentence that says where.
#include "gguf/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gguf/state.hpp"

namespace inlay::inline v0::gguf {

void Cursor::expect(std::uint64_t count, std::uint64_t item_bytes, std::string_view what) const {
  if (count > left()) fail(Fault::bad_count, fmt::format("{} {} cannot lie in the {} bytes left", count, what, left()));
  if (count > left() / item_bytes) {  // a count that is possible, in a file that was cut
    fail(Fault::truncated, fmt::format("the file ends before its {} {}", count, what));
  }
}

void Cursor::check_name(std::string_view name, std::uint64_t max_bytes) const {
  if (name.empty()) fail(Fault::bad_string, "its name is empty");
  if (name.size() > max_bytes) {
    fail(Fault::bad_string, fmt::format("its name has {} bytes, at most {} are allowed", name.size(), max_bytes));
  }
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(name, printable)) {
    fail(Fault::bad_string, "its name has bytes other than printable ASCII");
  }
}

void Cursor::fail(Fault fault, const std::string& sentence) const {
  const std::string subject = name_.empty() ? std::string(kind_) : fmt::format("{} {}", kind_, quoted(name_));
  gguf::fail(file_name_, fault, fmt::format("{}: {} (byte {})", subject, sentence, position_), name_);
}

void Cursor::fail_truncated(std::uint64_t count, std::string_view what) const {
  fail(Fault::truncated, fmt::format("the file ends in its {}: {} bytes wanted, {} left", what, count, left()));
}

}  // namespace inlay::inline v0::gguf

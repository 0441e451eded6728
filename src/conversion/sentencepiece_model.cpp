// A protobuf message is a list of fields: a number that holds the field's id and wire type, then its value.
#include "conversion/sentencepiece_model.hpp"

#include <fmt/format.h>

#include <cstring>

#include "inlay/error.hpp"

namespace inlay::inline v0::conversion {
namespace {

class Message {
 public:
  enum Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  struct Field {
    std::uint64_t id;
    std::uint64_t wire;
    std::uint64_t number = 0;
    std::span<const std::byte> content = {};
  };

  Message(std::span<const std::byte> message, const std::string& file) : rest_(message), file_(file) {}

  bool done() const { return rest_.empty(); }

  Field next() {
    const auto tag = number();
    Field field{tag >> 3, tag & 7};
    switch (field.wire) {
      case varint: field.number = number(); break;
      case fixed64: field.content = take(8); break;
      case fixed32: field.content = take(4); break;
      case bytes: field.content = take(number()); break;
      default: fail("has a field of an unknown kind");
    }
    return field;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(Errc::format, fmt::format("{} {}", file_, what), Fault::bad_value, file_);
  }

 private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(take(1)[0]);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail("has a number of more than 64 bits");
  }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size()) fail("ends within a field");
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  std::span<const std::byte> rest_;
  const std::string& file_;
};

Piece read_piece(Message message) {
  Piece piece;
  while (!message.done()) {
    const auto field = message.next();
    if (field.id == 1 && field.wire == Message::bytes) {
      piece.text.assign(reinterpret_cast<const char*>(field.content.data()), field.content.size());
    } else if (field.id == 2 && field.wire == Message::fixed32) {
      std::memcpy(&piece.score, field.content.data(), sizeof(piece.score));
    } else if (field.id == 3 && field.wire == Message::varint) {
      if (field.number < 1 || field.number > 6) message.fail("has a piece of an unknown type");
      piece.type = static_cast<std::int32_t>(field.number);
    }
  }
  return piece;
}

}  // namespace

std::vector<Piece> read_sentencepiece_model(std::span<const std::byte> content, const std::string& file) {
  std::vector<Piece> pieces;
  Message message(content, file);
  while (!message.done()) {
    const auto field = message.next();
    if (field.id == 1 && field.wire == Message::bytes) pieces.push_back(read_piece(Message(field.content, file)));
  }
  if (pieces.empty()) message.fail("has no pieces");
  return pieces;
}

}  // namespace inlay::inline v0::conversion

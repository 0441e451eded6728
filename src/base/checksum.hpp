// A 64-bit checksum of bytes that come in pieces. Every step can be undone, so a change of up to eight neighbouring
// bytes never goes unseen; it is no protection against intent.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace inlay::base {

class Checksum {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    length_ += bytes.size();
    for (; held_ > 0 && held_ < sizeof(word_) && !bytes.empty(); bytes = bytes.subspan(1)) hold(bytes.front());
    for (; bytes.size() >= sizeof(word_); bytes = bytes.subspan(sizeof(word_))) {
      std::memcpy(&word_, bytes.data(), sizeof(word_));
      mix(word_);
    }
    for (const auto byte : bytes) hold(byte);
  }

  std::uint64_t value() const noexcept {
    Checksum end = *this;
    if (held_ > 0) end.mix(word_);
    end.mix(length_), end.mix(length_);
    return end.sum_;
  }

 private:
  void mix(std::uint64_t word) noexcept {
    sum_ = std::rotl((sum_ ^ word) * 0x9E3779B97F4A7C15, 31);
    sum_ ^= sum_ >> 29;
  }
  void hold(std::byte byte) noexcept {
    if (held_ == 0) word_ = 0;
    word_ |= std::uint64_t(byte) << (8 * held_);
    if (++held_ < sizeof(word_)) return;
    mix(word_);
    held_ = 0;
  }

  std::uint64_t sum_ = 0x243F6A8885A308D3, word_ = 0, length_ = 0;
  std::size_t held_ = 0;  // bytes of the word that is not whole yet
};

}  // namespace inlay::base

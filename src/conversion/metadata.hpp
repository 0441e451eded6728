// The keys of the file to be written, gathered before any is: a later value replaces an earlier one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gguf/write.hpp"

namespace inlay::inline v0::conversion {

class Metadata {
 public:
  using Value = std::variant<std::uint32_t, std::int32_t, float, bool, std::string, std::vector<std::string>,
                             std::vector<float>, std::vector<std::int32_t>>;

  void set(std::string_view name, Value value) {
    for (auto& [key, old] : keys_) {
      if (key == name) {
        old = std::move(value);
        return;
      }
    }
    keys_.emplace_back(name, std::move(value));
  }

  void write(gguf::Writer& writer) const {
    for (const auto& [name, value] : keys_) std::visit(Write{writer, name}, value);
  }

 private:
  struct Write {
    gguf::Writer& writer;
    const std::string& name;
    template <class T>
    void operator()(const T& value) const {
      writer.key(name, value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) const {
      writer.array(name, values);
    }
  };

  std::vector<std::pair<std::string, Value>> keys_;
};

}  // namespace inlay::inline v0::conversion

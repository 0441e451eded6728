// Layers are told apart by the number in a name, as in "blk.3.attn_q.bias".
#include "runtime/lacking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "inlay/error.hpp"

namespace inlay::runtime {
namespace {

// The name without its layer's number; empty where it has none.
std::pmr::string without_number(std::string_view name, std::pmr::memory_resource* memory) {
  const auto block = name.find("blk.");
  if (block == name.npos) return std::pmr::string(memory);
  const auto number = block + 4, end = name.find('.', number);
  if (end == name.npos) return std::pmr::string(memory);
  std::pmr::string rest(name.substr(0, number), memory);
  rest += name.substr(end);
  return rest;
}

// Layers of one kind all have biases, gains of norms and gates, or none has, which is not so of factors, for example.
bool stands_in_all_layers(std::string_view name) {
  constexpr std::string_view endings[] = {".bias", "_norm.weight", "_ln.weight", "ffn_gate.weight"};
  return std::ranges::any_of(endings, [&](auto ending) { return name.ends_with(ending); });
}

}  // namespace

void Lacking::check(const gguf::File& file) const {
  auto* memory = names_.get_allocator().resource();
  std::pmr::unordered_map<std::pmr::string, std::string_view> present(memory);
  for (const auto& tensor : file.tensors()) present.emplace(without_number(tensor.name, memory), tensor.name);
  for (const auto& name : names_) {
    if (!stands_in_all_layers(name)) continue;
    const auto common = without_number(name, memory);
    const auto other = common.empty() ? present.end() : present.find(common);
    if (other != present.end())
      throw Error(Errc::format, fmt::format("the tensor {} is missing, while the file has {}", name, other->second),
                  Fault::missing_tensor, std::string(name));
  }
}

}  // namespace inlay::runtime

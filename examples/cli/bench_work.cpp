// Counts the weights that a token meets.
#include "cli/bench_work.hpp"

#include <map>
#include <string_view>

#include "inlay/gguf.hpp"

namespace cli {
namespace {

double share_of_experts(const inlay::gguf::File& file) {
  const std::string prefix(file.text("general.architecture"));
  const double all = file.real(prefix + ".expert_count", 0), used = file.real(prefix + ".expert_used_count", 0);
  return used > 0 && used < all ? used / all : 1;
}

double numbers_in(const inlay::gguf::Tensor& tensor) {
  double numbers = 1;
  for (const auto extent : tensor.shape) numbers *= static_cast<double>(extent);
  return numbers;
}

}  // namespace

Work work_of(const std::string& path) {
  const auto file = inlay::gguf::File::open(path);
  const double experts = share_of_experts(file);
  const std::string_view head = file.tensor("output.weight") ? "output.weight" : "token_embd.weight";
  Work work;
  std::map<std::uint32_t, double> products_of_type;
  for (const auto& tensor : file.tensors()) {
    if (tensor.name == "token_embd.weight" && tensor.name != head) continue;
    const double share = tensor.name.find("_exps.") != tensor.name.npos ? experts : 1;
    work.bytes += share * static_cast<double>(tensor.data.size());
    if (tensor.shape.size() < 2) continue;
    const double products = share * numbers_in(tensor);
    (tensor.name == head ? work.head_products : work.products) += products;
    products_of_type[tensor.type] += products;
  }
  for (const auto& [type, products] : products_of_type) {
    if (products > products_of_type[work.type]) work.type = type;
  }
  return work;
}

}  // namespace cli

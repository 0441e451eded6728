// What a model's file says that a token costs, to tell how near to the machine's limits a speed is.
#pragma once

#include <cstdint>
#include <string>

namespace cli {

struct Work {
  double bytes = 0;          // of weights that a token reads at least; of a separate table of embeddings nothing
  double products = 0;       // with the weights of all layers
  double head_products = 0;  // with those that only a token needs that is followed by a new one
  std::uint32_t type = 0;    // GGUF type of most products
};

// Of experts only as many count as a token is sent to.
Work work_of(const std::string& path);

}  // namespace cli

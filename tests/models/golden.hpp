// Golden models: a tiny GGUF file, and what the original implementation computes for it.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace support {

struct Golden {
  struct Block {
    std::string sequence, kind;
    std::vector<int> positions;
    std::vector<float> values;  // [positions, columns]
  };
  std::string name, architecture, model;  // model: the file's path
  double abs_f32, abs_reduced;
  std::map<std::string, std::vector<int>> sequences, sources;  // of encoder-decoders: what is written, what is read
  std::vector<Block> blocks;
  std::string greedy_prompt;
  std::vector<int> greedy;
  int context;  // that the longest sequence is configured for; 0: the file's
};

// Infinite where something is not a number.
double largest_difference(std::span<const float> got, std::span<const float> expected);

// Every fixture of that kind ("causal", "encoder", "seq2seq") in the sets that are here.
std::vector<Golden> goldens(std::string_view folder, std::string_view kind);

// The instruction sets that this machine can run, the reference first.
std::vector<std::string> instruction_sets();

}  // namespace support

// What makes answers of an encoder's rows, for models that judge texts: a reranker's score of a pair.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "inlay/nn/blocks.hpp"

namespace inlay::runtime {

// answers = output(norm(act(dense(row)))), each where the file has it: tensors "cls", "cls.norm", "cls.output".
// Computed on the host in double: it is small beside the pass that makes the rows.
class Judge {
 public:
  // Nothing where the file has neither "cls" nor "cls.output". Throws Error{format}.
  static std::optional<Judge> read(const nn::Metadata& m, const nn::Weights& w);

  // The rows of all tokens of one input, [tokens, width].
  std::vector<float> operator()(std::span<const float> rows) const;

 private:
  std::vector<double> pooled(std::span<const float> rows) const;  // the row that is judged
  struct Dense {
    nn::Tensor weight, bias;
    static Dense read(const nn::Weights& w, const std::string& name, std::int64_t in);
    explicit operator bool() const noexcept { return bool(weight); }
    std::vector<double> operator()(std::span<const double> x) const;
  };
  Dense dense_, output_;
  nn::Tensor gain_;  // of the norm behind `dense`; that has GELU then (ModernBERT), else tanh (RoBERTa)
  float epsilon_ = 0;
  bool mean_ = false;  // the mean of all rows is judged, not the first
  std::size_t width_ = 0;
};

}  // namespace inlay::runtime

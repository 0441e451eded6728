// Reading a model file: numbers by key, tensors by name and expected shape.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "inlay/nn/tensor.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// The file's key-value part; keys are seen from "<architecture>." unless `whole` names are asked for.
class INLAY_API Metadata {
 public:
  /// What the runtime implements: element `i` of the value, empty where the key is absent. Throws Error{format} with
  /// the key where the value has another type.
  struct INLAY_API Source {
    virtual std::optional<double> number(std::string_view key, std::size_t i) const = 0;
    virtual std::optional<std::string_view> text(std::string_view key) const = 0;
    virtual std::size_t size(std::string_view key) const = 0;  ///< elements; 0 where absent
    virtual ~Source();
  };
  Metadata(const Source& source, std::string_view architecture, int vocabulary, int context, int trained)
      : vocabulary(vocabulary),
        context(context),
        trained(trained),
        source_(&source),
        prefix_(std::string(architecture) + ".") {}

  int vocabulary;  ///< tokens, as the token list or "vocab_size" states
  int context;     ///< tokens that a session of this load may have
  int trained;     ///< "context_length": tokens that the model was trained for

  int integer(std::string_view key) const;  ///< throws Error{format} if absent
  int integer(std::string_view key, int otherwise) const;
  int integer(std::string_view key, int layer, int otherwise) const;  ///< a number, or the layer's entry of an array
  float real(std::string_view key, float otherwise) const;
  float real(std::string_view key) const;                              ///< throws Error{format} if absent
  float real(std::string_view key, int layer, float otherwise) const;  ///< a number, or the layer's entry of an array
  bool flag(std::string_view key, bool otherwise) const;
  bool flag(std::string_view key, int layer, bool otherwise) const;
  /// The same, but for minus infinity, which files state where a threshold leaves nothing out.
  float threshold(std::string_view key, int layer, float otherwise) const;
  /// A number under its whole name, without the architecture's prefix; an array has one for each layer.
  float shared(std::string_view key, int layer) const;
  float shared(std::string_view key, int layer, float otherwise) const;
  std::string_view text(std::string_view key, std::string_view otherwise) const;
  bool has(std::string_view key) const;
  std::size_t size(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, const std::string& why) const;  ///< throws Error{format, bad_value}

 private:
  void need(std::string_view key) const;
  std::optional<double> number(std::string_view key, std::size_t i) const;
  const Source* source_;
  std::string prefix_;
};

/// The file's tensors, seen from a prefix. A tensor is asked for by the way it is used, so that the backend can keep it
/// in the form that suits the use.
class INLAY_API Weights {
 public:
  enum class Use { values, matrix, table };

  /// What the runtime implements.
  struct INLAY_API Source {
    /// An empty tensor where the file has none; Error{format} saying both shapes where they differ.
    virtual Tensor find(const std::string& name, std::span<const std::int64_t> shape, Use) = 0;
    virtual std::vector<std::int64_t> shape(const std::string& name) const = 0;  ///< empty where the file has none
    virtual Tensor constant(std::span<const float> values) = 0;                  ///< a tensor of these numbers
    virtual std::pmr::memory_resource* memory() const noexcept = 0;              ///< as below
    virtual ~Source();
  };
  explicit Weights(Source& source, std::string prefix = {}) : source_(&source), prefix_(std::move(prefix)) {}

  Weights layer(int i) const { return Weights(*source_, prefix_ + "blk." + std::to_string(i) + "."); }
  Weights whole() const { return Weights(*source_); }  ///< names without a layer's prefix
  Weights under(const std::string& prefix) const { return Weights(*source_, prefix_ + prefix); }

  using Shape = std::initializer_list<std::int64_t>;
  /// Norm gains, biases, ...: the tensor `name` as f32 with exactly this shape; throws Error{format} saying both
  /// shapes.
  Tensor operator()(const std::string& name, Shape shape) const { return need(name, shape, Use::values); }
  Tensor matrix(const std::string& name, Shape shape) const { return need(name, shape, Use::matrix); }
  Tensor table(const std::string& name, Shape shape) const { return need(name, shape, Use::table); }
  /// The same, or an empty tensor where the file has none. Blocks read that as "skip".
  Tensor maybe(const std::string& name, Shape shape) const { return find(name, shape, Use::values); }
  Tensor maybe_matrix(const std::string& name, Shape shape) const { return find(name, shape, Use::matrix); }
  /// The factor "<name>.scale" on what the matrix `name` gives; 1 where the file has none.
  float scale(const std::string& name) const;
  bool has(const std::string& name) const { return !shape(name).empty(); }
  std::vector<std::int64_t> shape(const std::string& name) const { return source_->shape(prefix_ + name); }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;  ///< throws Error{unsupported}
  Tensor constant(std::span<const float> values) const { return source_->constant(values); }
  std::pmr::memory_resource* memory() const noexcept { return source_->memory(); }  ///< for what a model keeps

 private:
  Tensor need(const std::string& name, Shape shape, Use) const;
  Tensor find(const std::string& name, Shape shape, Use use) const {
    return source_->find(prefix_ + name, {shape.begin(), shape.size()}, use);
  }
  Source* source_;
  std::string prefix_;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay

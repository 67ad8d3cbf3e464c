// Brings tensors of a GGUF file onto a backend: finds them by name, checks their shapes exactly, and uploads them.
#pragma once

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/weights.hpp"

namespace soffit::model {

// A matrix to load: NAME.weight with its optional NAME.bias and NAME.scale.
struct MatrixName {
  std::string name;
  int64_t rows = 0;
  bool bias_required = false;
};

class TensorLoader {
 public:
  TensorLoader(std::shared_ptr<const gguf::File> file, Backend& backend, const LoadOptions& options,
               ModelWeights& weights);

  bool has(std::string_view name) const { return file_->tensor(name) != nullptr; }

  // A vector as f32 in a buffer of its own, (1, length); any format with a decoder.
  Result<ArrayView> vector(const std::string& name, int64_t length);
  // An empty view when the file has no such tensor.
  Result<ArrayView> optional_vector(const std::string& name, int64_t length);

  // Matrices of one width, stacked where they can be.
  Result<Projections> stack(std::vector<MatrixName> names, int64_t cols, int64_t experts = 1);
  Result<Projection> matrix(MatrixName name, int64_t cols, int64_t experts = 1);
  // One tensor of every expert's gate rows followed by its up rows, as two stacked parts.
  Result<Projections> split_gate_up(const std::string& name, int64_t rows, int64_t cols, int64_t experts);
  // NAME.weight alone, in the given layout; read by get_rows.
  Result<const Weights*> table(const std::string& name, int64_t rows, int64_t cols, Layout layout);

  // Tensors that nothing has asked for.
  std::vector<std::string> unused() const;

 private:
  using Shape = std::vector<int64_t>;  // ne0 first

  Result<const gguf::Tensor*> find(const std::string& name, const Shape& shape);
  Result<MatrixDescription> describe(const gguf::Tensor& tensor, int64_t rows, int64_t cols, int64_t experts) const;
  Result<float> scale(const std::string& name, int64_t experts);
  Result<ArrayView> upload_vector(const std::vector<float>& values);
  Result<ArrayView> stack_biases(const std::vector<MatrixName>& names);
  Result<Projections> stack_tensors(const std::vector<MatrixName>& names, std::vector<const gguf::Tensor*> tensors,
                                    float scale, int64_t cols, int64_t experts);
  Status upload(Weights& weights, size_t part, const gguf::Tensor& tensor);
  Status write(Weights& weights, size_t part, uint64_t offset, std::span<const std::byte> bytes);
  Status advance(uint64_t bytes);

  std::shared_ptr<const gguf::File> file_;
  Backend& backend_;
  const LoadOptions& options_;
  ModelWeights& weights_;
  std::set<std::string, std::less<>> used_;
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace soffit::model

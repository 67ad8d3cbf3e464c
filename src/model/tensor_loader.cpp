#include "model/tensor_loader.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "soffit/operation.hpp"

namespace soffit::model {
namespace {

// A matrix with more than this part of the file's bytes is repacked in pieces, and a piece is what is resident twice.
constexpr uint64_t kAtOnceShare = 16, kPieceBytes = 8 << 20;

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t dimension : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

std::string supported_formats() {
  std::string names;
  for (const FormatInfo& format : all_formats()) {
    if (format.supported) names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return names;
}

Error unsupported_format(const gguf::Tensor& tensor) {
  return unsupported("tensor '" + std::string(tensor.name) + "' is " + std::string(tensor.format->name) +
                     ", which has no kernels here; supported: " + supported_formats());
}

}  // namespace

TensorLoader::TensorLoader(std::shared_ptr<const gguf::File> file, Backend& backend, const LoadOptions& options,
                           ModelWeights& weights)
    : file_(std::move(file)), backend_(backend), options_(options), weights_(weights) {
  for (const gguf::Tensor& tensor : file_->tensors()) total_ += tensor.bytes.size();
}

Result<const gguf::Tensor*> TensorLoader::find(const std::string& name, const Shape& shape) {
  const gguf::Tensor* tensor = file_->tensor(name);
  if (!tensor) return invalid_file("tensor '" + name + "' " + shape_text(shape) + " is missing");
  bool same = true;
  for (size_t i = 0; i < std::max(shape.size(), tensor->shape.size()); i++) {
    same = same && tensor->dimension(i) == (i < shape.size() ? shape[i] : 1);
  }
  if (!same) {
    return invalid_file("tensor '" + name + "' has the shape " + shape_text(tensor->shape) + ", expected " +
                        shape_text(shape));
  }
  used_.insert(name);
  return tensor;
}

Result<MatrixDescription> TensorLoader::describe(const gguf::Tensor& tensor, int64_t rows, int64_t cols,
                                                 int64_t experts) const {
  if (!tensor.format->supported) return unsupported_format(tensor);
  const auto format = Format(tensor.type_id);
  const auto kind = experts > 1 ? OperationKind::linear_id : OperationKind::linear;
  if (const Support support = backend_.supports(kind, format, {rows, cols, 1, experts}); !support) {
    return unsupported("tensor '" + std::string(tensor.name) + "', " + std::string(tensor.format->name) + " " +
                       shape_text(tensor.shape) + ": " + support.reason);
  }
  return MatrixDescription{format, rows, cols, experts};
}

Status TensorLoader::advance(uint64_t bytes) {
  done_ += bytes;
  if (options_.progress && !options_.progress(std::min(done_, total_), total_)) {
    return Error{Code::cancelled, "loading was cancelled"};
  }
  return {};
}

Status TensorLoader::write(Weights& weights, size_t part, uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(size_t(std::min<uint64_t>(kPieceBytes, bytes.size())));
    SOFFIT_CHECK(weights.write(part, offset, piece));
    file_->release(piece);
    SOFFIT_CHECK(advance(piece.size()));
    offset += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status TensorLoader::upload(Weights& weights, size_t part, const gguf::Tensor& tensor) {
  const bool in_place = weights.layout_name(part) == tensor.format->name;
  // At once is faster, but holds the file's pages beside the copy.
  if (!in_place && tensor.bytes.size() > total_ / kAtOnceShare) return write(weights, part, 0, tensor.bytes);
  SOFFIT_CHECK(weights.adopt(part, tensor.bytes, file_));
  if (!in_place) file_->release(tensor.bytes);
  return advance(tensor.bytes.size());
}

Result<ArrayView> TensorLoader::upload_vector(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  SOFFIT_TRY(auto buffer, backend_.new_buffer(bytes.size()));
  SOFFIT_CHECK(buffer->write(0, bytes));
  weights_.vectors.push_back(std::move(buffer));
  return view(*weights_.vectors.back(), DataType::f32, 1, int64_t(values.size()));
}

namespace {

Result<std::vector<float>> decode(const gguf::Tensor& tensor) {
  if (!tensor.format->supported) return unsupported_format(tensor);
  std::vector<float> values(size_t(tensor.elements()));
  tensor.format->decode(tensor.bytes.data(), values.data(), values.size() / tensor.format->block_elements);
  return values;
}

}  // namespace

Result<ArrayView> TensorLoader::vector(const std::string& name, int64_t length) {
  SOFFIT_TRY(const gguf::Tensor* tensor, find(name, {length}));
  SOFFIT_TRY(const auto values, decode(*tensor));
  SOFFIT_CHECK(advance(tensor->bytes.size()));
  return upload_vector(values);
}

Result<ArrayView> TensorLoader::optional_vector(const std::string& name, int64_t length) {
  if (!has(name)) return ArrayView();
  return vector(name, length);
}

Result<float> TensorLoader::scale(const std::string& name, int64_t experts) {
  if (!has(name + ".scale")) return 1.0f;
  SOFFIT_TRY(const gguf::Tensor* tensor, find(name + ".scale", {experts}));
  SOFFIT_TRY(const auto values, decode(*tensor));
  if (std::ranges::any_of(values, [&](float value) { return value != values.front(); })) {
    return unsupported("tensor '" + name + ".scale': a different scale for each expert");
  }
  return values.front();
}

Result<ArrayView> TensorLoader::stack_biases(const std::vector<MatrixName>& names) {
  std::vector<float> biases;
  bool any = false;
  for (const MatrixName& name : names) {
    const size_t begin = biases.size();
    biases.resize(begin + size_t(name.rows), 0.0f);
    if (!has(name.name + ".bias") && !name.bias_required) continue;
    SOFFIT_TRY(const gguf::Tensor* tensor, find(name.name + ".bias", {name.rows}));
    SOFFIT_TRY(const auto values, decode(*tensor));
    std::ranges::copy(values, biases.begin() + ptrdiff_t(begin));
    any = true;
  }
  if (!any) return ArrayView();
  return upload_vector(biases);
}

Result<Projections> TensorLoader::stack_tensors(const std::vector<MatrixName>& names,
                                                std::vector<const gguf::Tensor*> tensors, float scale, int64_t cols,
                                                int64_t experts) {
  std::vector<MatrixDescription> parts;
  for (size_t i = 0; i < names.size(); i++) {
    SOFFIT_TRY(const MatrixDescription part, describe(*tensors[i], names[i].rows, cols, experts));
    parts.push_back(part);
  }
  SOFFIT_TRY(auto weights, backend_.new_weights(parts, options_.layout));
  for (size_t i = 0; i < names.size(); i++) SOFFIT_CHECK(upload(*weights, i, *tensors[i]));
  SOFFIT_CHECK(weights->finish());
  SOFFIT_TRY(const ArrayView bias, stack_biases(names));
  weights_.matrices.push_back(std::move(weights));
  return Projections{{weights_.matrices.back().get(), scale, bias}};
}

Result<Projections> TensorLoader::stack(std::vector<MatrixName> names, int64_t cols, int64_t experts) {
  std::vector<const gguf::Tensor*> tensors;
  std::vector<float> scales;
  for (const MatrixName& name : names) {
    Shape shape = {cols, name.rows};
    if (experts > 1) shape.push_back(experts);
    SOFFIT_TRY(const gguf::Tensor* tensor, find(name.name + ".weight", shape));
    SOFFIT_TRY(const float scale, this->scale(name.name, experts));
    tensors.push_back(tensor);
    scales.push_back(scale);
  }
  if (std::ranges::all_of(scales, [&](float scale) { return scale == scales.front(); })) {
    return stack_tensors(names, std::move(tensors), scales.front(), cols, experts);
  }
  Projections all;
  for (size_t i = 0; i < names.size(); i++) {
    SOFFIT_TRY(const Projections one, stack_tensors({names[i]}, {tensors[i]}, scales[i], cols, experts));
    all.push_back(one.front());
  }
  return all;
}

Result<Projection> TensorLoader::matrix(MatrixName name, int64_t cols, int64_t experts) {
  SOFFIT_TRY(const Projections one, stack({std::move(name)}, cols, experts));
  return one.front();
}

Result<Projections> TensorLoader::split_gate_up(const std::string& name, int64_t rows, int64_t cols, int64_t experts) {
  SOFFIT_TRY(const gguf::Tensor* tensor, find(name + ".weight", {cols, 2 * rows, experts}));
  SOFFIT_TRY(const float scale, this->scale(name, experts));
  SOFFIT_TRY(const MatrixDescription part, describe(*tensor, rows, cols, experts));
  SOFFIT_TRY(auto weights, backend_.new_weights(std::vector{part, part}, options_.layout));
  for (size_t i = 0; i < 2; i++) {
    SOFFIT_TRY(const MatrixShard half,
               row_shard({part.format, 2 * rows, cols, experts}, {tensor->bytes}, int64_t(i) * rows, rows));
    if (weights->layout_name(i) == tensor->format->name) {
      SOFFIT_CHECK(weights->adopt(i, half.source, file_));
      SOFFIT_CHECK(advance(tensor->bytes.size() / 2));
      continue;
    }
    const uint64_t slab = tensor->bytes.size() / uint64_t(2 * experts);
    for (uint64_t expert = 0; expert < uint64_t(experts); expert++) {
      SOFFIT_CHECK(
          write(*weights, i, expert * slab, half.source.bytes.subspan(expert * half.source.expert_stride, slab)));
    }
  }
  SOFFIT_CHECK(weights->finish());
  weights_.matrices.push_back(std::move(weights));
  return Projections{{weights_.matrices.back().get(), scale, {}}};
}

Result<const Weights*> TensorLoader::table(const std::string& name, int64_t rows, int64_t cols, Layout layout) {
  SOFFIT_TRY(const gguf::Tensor* tensor, find(name + ".weight", {cols, rows}));
  SOFFIT_TRY(const MatrixDescription part, describe(*tensor, rows, cols, 1));
  if (const Support support = backend_.supports(OperationKind::get_rows, part.format, {rows, cols, 1, 1}); !support) {
    return unsupported("tensor '" + std::string(tensor->name) + "': " + support.reason);
  }
  SOFFIT_TRY(auto weights, backend_.new_weights({&part, 1}, layout));
  SOFFIT_CHECK(upload(*weights, 0, *tensor));
  SOFFIT_CHECK(weights->finish());
  weights_.matrices.push_back(std::move(weights));
  return weights_.matrices.back().get();
}

std::vector<std::string> TensorLoader::unused() const {
  std::vector<std::string> names;
  for (const gguf::Tensor& tensor : file_->tensors()) {
    if (!used_.contains(tensor.name)) names.emplace_back(tensor.name);
  }
  return names;
}

}  // namespace soffit::model

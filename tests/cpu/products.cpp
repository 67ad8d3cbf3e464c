#include "products.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "check/blocks.hpp"

namespace soffit::test {
namespace {

template <class T>
T expect_value(Result<T> result) {
  if (result) return *std::move(result);
  ADD_FAILURE() << result.error().message;
  return nullptr;
}

template <class T>
Array filled(Backend& backend, DataType type, int64_t rows, int64_t cols, const std::vector<T>& values) {
  Array array{expect_value(backend.new_buffer(uint64_t(rows * cols) * sizeof(T))), {}};
  array.view = view(*array.buffer, type, rows, cols);
  write_array(array, values);
  return array;
}

template <class T>
std::vector<T> read_all(const Array& array) {
  std::vector<T> values(size_t(array.view.rows * array.view.cols));
  EXPECT_TRUE(array.buffer->read(0, std::as_writable_bytes(std::span(values))));
  return values;
}

}  // namespace

Matrix Matrix::random(Format format, int64_t rows, int64_t cols, uint64_t seed, int64_t experts) {
  Matrix m{{format, rows, cols, experts}, {}};
  m.bytes.resize(*matrix_bytes(m.description));
  checker::Random random(seed);
  checker::fill_blocks(format, checker::Blocks::random, random, m.bytes);
  return m;
}

std::unique_ptr<Weights> Matrix::upload(Backend& backend, Layout layout) const {
  const MatrixDescription parts[] = {description};
  auto weights = expect_value(backend.new_weights(parts, layout));
  const auto owned = std::make_shared<std::vector<std::byte>>(bytes);
  EXPECT_TRUE(weights->adopt(0, *owned, owned));
  EXPECT_TRUE(weights->finish());
  return weights;
}

std::vector<float> random_x(int64_t count, uint64_t seed) {
  checker::Random random(seed);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& v : x) v = random.normal();
  return x;
}

Array make_array(Backend& backend, int64_t rows, int64_t cols, const std::vector<float>& values) {
  return filled(backend, DataType::f32, rows, cols, values);
}
Array make_array(Backend& backend, int64_t rows, int64_t cols, const std::vector<int32_t>& values) {
  return filled(backend, DataType::i32, rows, cols, values);
}
Array make_array(Backend& backend, int64_t rows, int64_t cols) {
  return filled(backend, DataType::f32, rows, cols, std::vector<float>(size_t(rows * cols)));
}

std::vector<float> read_floats(const Array& array) { return read_all<float>(array); }
std::vector<int32_t> read_ints(const Array& array) { return read_all<int32_t>(array); }
void write_array(const Array& array, const std::vector<float>& values) {
  EXPECT_TRUE(array.buffer->write(0, std::as_bytes(std::span(values))));
}
void write_array(const Array& array, const std::vector<int32_t>& values) {
  EXPECT_TRUE(array.buffer->write(0, std::as_bytes(std::span(values))));
}

std::unique_ptr<Activations> make_activations(Backend& backend, int64_t rows, const Weights& reader) {
  const Weights* readers[] = {&reader};
  return expect_value(backend.new_activations(rows, reader.cols(), readers));
}

std::unique_ptr<Plan> make_plan(Backend& backend, const std::vector<Operation>& operations, PlanOptions options) {
  return expect_value(backend.plan(operations, options));
}

void run_plan(Backend& backend, const std::vector<Operation>& operations) {
  const auto plan = make_plan(backend, operations);
  ASSERT_TRUE(plan);
  const auto status = plan->run();
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
}

std::vector<float> multiply(Backend& backend, const Weights& weights, const std::vector<float>& x) {
  const auto n = int64_t(x.size()) / weights.cols();
  const Array from = make_array(backend, n, weights.cols(), x), y = make_array(backend, n, weights.rows());
  const auto activations = make_activations(backend, n, weights);
  run_plan(backend, {Prepare{from.view, activations.get()}, Linear{&weights, activations.get(), y.view, {}}});
  return read_floats(y);
}

}  // namespace soffit::test

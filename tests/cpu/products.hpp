// y = W x through the public interface, for tests that look at the results themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "soffit/backend.hpp"
#include "soffit/operation.hpp"

namespace soffit::test {

// One matrix of random blocks, as bytes of the file.
struct Matrix {
  MatrixDescription description;
  std::vector<std::byte> bytes;

  static Matrix random(Format format, int64_t rows, int64_t cols, uint64_t seed, int64_t experts = 1);
  std::unique_ptr<Weights> upload(Backend& backend, Layout layout = Layout::automatic) const;
};

std::vector<float> random_x(int64_t count, uint64_t seed);

// An array of the backend with these values, dense.
struct Array {
  std::unique_ptr<Buffer> buffer;
  ArrayView view;
};
Array make_array(Backend& backend, int64_t rows, int64_t cols, const std::vector<float>& values);
Array make_array(Backend& backend, int64_t rows, int64_t cols, const std::vector<int32_t>& values);
Array make_array(Backend& backend, int64_t rows, int64_t cols);  // zeros
std::vector<float> read_floats(const Array& array);
std::vector<int32_t> read_ints(const Array& array);
void write_array(const Array& array, const std::vector<float>& values);
void write_array(const Array& array, const std::vector<int32_t>& values);

std::unique_ptr<Activations> make_activations(Backend& backend, int64_t rows, const Weights& reader);
std::unique_ptr<Plan> make_plan(Backend& backend, const std::vector<Operation>& operations, PlanOptions options = {});
void run_plan(Backend& backend, const std::vector<Operation>& operations);

// (n, rows) results for (n, cols) of x.
std::vector<float> multiply(Backend& backend, const Weights& weights, const std::vector<float>& x);

}  // namespace soffit::test

// Small files to requantise.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "files.hpp"
#include "soffit/gguf.hpp"

namespace soffit::convert::test {

struct Matrix {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values = {};  // N(0, 1) where none are given
  Format format = Format::f32;
};

inline int64_t elements_of(const Matrix& matrix) {
  int64_t elements = 1;
  for (const int64_t dimension : matrix.shape) elements *= dimension;
  return elements;
}

inline std::vector<float> normal_values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

inline std::vector<std::byte> encoded(Format format, const std::vector<float>& values) {
  const FormatInfo& f = info(format);
  std::vector<std::byte> bytes(values.size() / f.block_elements * f.block_bytes);
  f.encode(values.data(), bytes.data(), values.size() / f.block_elements);
  return bytes;
}

inline std::vector<float> decoded(const gguf::Tensor& tensor) {
  std::vector<float> values(size_t(tensor.elements()));
  tensor.format->decode(tensor.bytes.data(), values.data(), values.size() / tensor.format->block_elements);
  return values;
}

// A file of these tensors, with a key before and one after general.file_type.
inline void write_file(const std::filesystem::path& path, const std::vector<Matrix>& matrices,
                       uint32_t alignment = 32) {
  const auto writer = gguf::Writer::create(path, alignment);
  ASSERT_TRUE(writer) << writer.error().message;
  gguf::Writer& out = **writer;
  ASSERT_TRUE(out.add("general.architecture", std::string("llama")));
  ASSERT_TRUE(out.add("general.file_type", uint32_t(0)));
  ASSERT_TRUE(out.add("llama.block_count", uint32_t(1)));
  for (const Matrix& matrix : matrices) ASSERT_TRUE(out.describe(matrix.name, uint32_t(matrix.format), matrix.shape));
  for (size_t i = 0; i < matrices.size(); ++i) {
    const Matrix& matrix = matrices[i];
    const auto values = matrix.values.empty() ? normal_values(elements_of(matrix), uint32_t(i)) : matrix.values;
    ASSERT_TRUE(out.write(encoded(matrix.format, values)));
  }
  const Status finished = out.finish();
  ASSERT_TRUE(finished) << finished.error().message;
}

inline std::shared_ptr<const gguf::File> open(const std::filesystem::path& path) {
  auto file = gguf::File::open(path);
  EXPECT_TRUE(file) << file.error().message;
  return file ? *file : nullptr;
}

}  // namespace soffit::convert::test

// What the roof reads and where. No speed is asserted, only that there is one.
#include "measure/roof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace soffit::measure {
namespace {

std::unique_ptr<Backend> cpu(int threads) {
  BackendOptions options;
  options.threads = threads;
  auto backend = create_backend("cpu", options);
  EXPECT_TRUE(backend) << backend.error().message;
  return *std::move(backend);
}

std::unique_ptr<Weights> random_weights(Backend& backend, const MatrixDescription& matrix, Layout layout) {
  auto weights = *backend.new_weights({&matrix, 1}, layout);
  std::vector<std::byte> bytes(*matrix_bytes(matrix));
  std::mt19937 random(7);
  for (std::byte& b : bytes) b = std::byte(random());
  EXPECT_TRUE(weights->write(0, 0, bytes));
  EXPECT_TRUE(weights->finish());
  return weights;
}

TEST(Roof, MemoryIsThatOfTheWeights) {
  const auto backend = cpu(2);
  const auto roof = *Roof::create(*backend);
  const MatrixDescription matrix{Format::q8_0, 48, 64, 3};
  const auto weights = random_weights(*backend, matrix, Layout::file);
  const int64_t row = *row_bytes(Format::q8_0, 64);
  const auto bytes = *roof->memory(*weights, 0, 2, 5, 7);
  ASSERT_EQ(bytes.size(), size_t(7 * row));
  std::vector<std::byte> expected(bytes.size());
  ASSERT_TRUE(weights->read(0, uint64_t((2 * 48 + 5) * row), expected));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin()));

  for (const auto& [part, expert, first, rows] :
       {std::tuple{size_t(1), 0, 0, 1}, {size_t(0), 3, 0, 1}, {size_t(0), 0, 48, 1}, {size_t(0), 0, -1, 1}}) {
    EXPECT_FALSE(roof->memory(*weights, part, expert, first, rows)) << part << " " << expert << " " << first;
  }
}

TEST(Roof, ReadsAndPeaksOfEveryThreadCount) {
  std::vector<std::byte> memory(1 << 20, std::byte{1});
  const Bytes odd[] = {Bytes(memory).first(1), Bytes(memory).subspan(3, 700'001), {}};
  for (const int threads : {1, 2, 3}) {
    const auto backend = cpu(threads);
    const auto roof = *Roof::create(*backend);
    EXPECT_GE(roof->readers().size(), 4u);
    for (size_t reader = 0; reader < roof->readers().size(); ++reader) EXPECT_GT(roof->read(reader, odd), 0);
    for (const Arithmetic arithmetic : {Arithmetic::integer8, Arithmetic::float32}) {
      EXPECT_GT(roof->peak_gflops(arithmetic, 1e-3), 0);
      EXPECT_FALSE(roof->instruction(arithmetic).empty());
    }
  }
}

TEST(Roof, BandwidthOfBytesAndOfWeights) {
  const auto backend = cpu(2);
  const auto of_bytes = read_bandwidth(*backend, 3'000'001, 0.01);
  ASSERT_TRUE(of_bytes) << of_bytes.error().message;
  EXPECT_TRUE(std::isfinite(of_bytes->gb_per_second) && of_bytes->gb_per_second > 0);
  EXPECT_FALSE(of_bytes->reader.empty());
  const auto weights = random_weights(*backend, {Format::q4_k, 64, 256, 2}, Layout::automatic);
  const Weights* list[] = {weights.get()};
  const auto of_weights = read_bandwidth(*backend, list, 0.01);
  ASSERT_TRUE(of_weights) << of_weights.error().message;
  EXPECT_GT(of_weights->gb_per_second, 0);
  const auto peak = peak_gflops(*backend, Arithmetic::integer8, 0.01);
  ASSERT_TRUE(peak);
  EXPECT_GT(*peak, 0);
  EXPECT_FALSE(read_bandwidth(*backend, 0, 0.01));
  EXPECT_FALSE(read_bandwidth(*backend, std::span<const Weights* const>(), 0.01));
}

TEST(Roof, ArithmeticOfFormats) {
  EXPECT_EQ(arithmetic_of(Format::q4_k, false), Arithmetic::integer8);
  EXPECT_EQ(arithmetic_of(Format::q4_k, true), Arithmetic::float32);
  for (const Format plain : {Format::f32, Format::f16, Format::bf16})
    EXPECT_EQ(arithmetic_of(plain, false), Arithmetic::float32);
}

}  // namespace
}  // namespace soffit::measure

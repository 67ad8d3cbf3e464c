// Sizes beyond 32 bits, in memory that is mapped but never touched, and more rows than fit 16 bits.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>

#include "backends.hpp"
#include "check/linear_case.hpp"
#include "cpu/kernel_table.hpp"
#include "cpu/tiles/legacy.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

// Zero bytes that cost nothing until they are written.
class Lazy {
 public:
  explicit Lazy(size_t size) : size_(size) {
    void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
    // Reads of pages that were never written share one page; a huge one would be memory of its own.
    if (data_) madvise(data_, size, MADV_NOHUGEPAGE);
  }
  ~Lazy() {
    if (data_) munmap(data_, size_);
  }
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;
  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  size_t size_;
};

class Sizes : public EachArm {};
SOFFIT_FOR_EACH_ARM(Sizes);

// mlx #2143: 151936 x 2048 and 256000 x 12288, the latter more than 2^31 elements.
TEST_P(Sizes, RowsNearTheEndOfHugeMatrices) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{151936, 2048}, {256000, 12288}})
    for (Format format : {Format::f16, Format::q8_0}) {
      const MatrixDescription parts[] = {{format, rows, cols, 1}};
      const Lazy memory(*matrix_bytes(parts[0]));
      ASSERT_TRUE(memory.bytes().data());
      const Matrix last = Matrix::random(format, 1, cols, 1);
      std::memcpy(memory.bytes().data() + memory.bytes().size() - last.bytes.size(), last.bytes.data(),
                  last.bytes.size());
      const auto weights = *backend_->new_weights(parts, Layout::file);
      ASSERT_TRUE(weights->adopt(0, memory.bytes(), nullptr));
      ASSERT_TRUE(weights->finish());
      const Array ids = make_array(*backend_, 1, 2, std::vector<int32_t>{int32_t(rows - 1), int32_t(rows - 2)});
      const Array y = make_array(*backend_, 2, cols);
      run_plan(*backend_, {GetRows{weights.get(), ids.view, y.view, 1}});
      std::vector<float> expected(size_t(2 * cols));
      info(format).decode(last.bytes.data(), expected.data(), size_t(cols / info(format).block_elements));
      EXPECT_EQ(read_floats(y), expected);
    }
}

TEST_P(Sizes, ExpertsBeyondFourBillionElements) {
  constexpr int64_t kExperts = 4200, kRows = 1000, kCols = 1024;
  for (Format format : {Format::f16, Format::q4_0, Format::q4_k}) {
    const MatrixDescription parts[] = {{format, kRows, kCols, kExperts}};
    const Lazy memory(*matrix_bytes(parts[0]));
    ASSERT_TRUE(memory.bytes().data());
    const Matrix last = Matrix::random(format, kRows, kCols, 2);
    std::memcpy(memory.bytes().data() + memory.bytes().size() - last.bytes.size(), last.bytes.data(),
                last.bytes.size());
    const auto weights = *backend_->new_weights(parts, Layout::file);
    ASSERT_TRUE(weights->adopt(0, memory.bytes(), nullptr));
    ASSERT_TRUE(weights->finish());
    const auto x = random_x(kCols, 3);
    const Array from = make_array(*backend_, 1, kCols, x), y = make_array(*backend_, 1, kRows);
    const Array ids = make_array(*backend_, 1, 1, std::vector<int32_t>{kExperts - 1});
    const auto activations = make_activations(*backend_, 1, *weights);
    run_plan(*backend_, {Prepare{from.view, activations.get()},
                         LinearId{weights.get(), activations.get(), ids.view, false, y.view, {}}});
    EXPECT_EQ(read_floats(y), multiply(*backend_, *last.upload(*backend_), x)) << info(format).name;
  }
}

// Rows of x and of y that lie more than 2^32 bytes apart.
TEST_P(Sizes, StridesBeyond32Bits) {
  constexpr int64_t kStride = (int64_t(1) << 30) + 64;  // elements
  const Matrix matrix = Matrix::random(Format::q4_0, 33, 96, 4);
  const auto weights = matrix.upload(*backend_);
  const auto x = random_x(3 * 96, 5);
  const auto buffer = *backend_->new_buffer(uint64_t(2 * kStride + 96) * 4), to = *backend_->new_buffer(buffer->size());
  for (int64_t i = 0; i < 3; ++i)
    ASSERT_TRUE(buffer->write(uint64_t(i * kStride) * 4, std::as_bytes(std::span(x).subspan(size_t(i * 96), 96))));
  const ArrayView from{buffer.get(), 0, DataType::f32, 3, 96, kStride}, y{to.get(), 0, DataType::f32, 3, 33, kStride};
  const auto activations = make_activations(*backend_, 3, *weights);
  run_plan(*backend_, {Prepare{from, activations.get()}, Linear{weights.get(), activations.get(), y, {}}});
  std::vector<float> results(3 * 33);
  for (int64_t i = 0; i < 3; ++i)
    ASSERT_TRUE(
        to->read(uint64_t(i * kStride) * 4, std::as_writable_bytes(std::span(results).subspan(size_t(i * 33), 33))));
  EXPECT_EQ(results, multiply(*backend_, *weights, x));
}

// mlx #665: with fewer than 8 rows NaN, with 33 the last one 0.
TEST_P(Sizes, AnyNumberOfRowsOfALongWidth) {
  checker::Placement placement;
  for (Format format : {Format::q4_0, Format::q8_0, Format::q4_k, Format::f16})
    for (int64_t rows = 1; rows <= 40; ++rows) {
      checker::LinearCase c;
      c.parts = {{format, rows}};
      c.cols = 4096, c.layout = rows % 2 ? Layout::automatic : Layout::file, c.seed = uint64_t(rows);
      const auto outcome = checker::LinearProblem(c).run(*backend_, placement);
      EXPECT_EQ(outcome.verdict, checker::Verdict::passed)
          << info(format).name << ", " << rows << ": " << outcome.reason;
    }
}

// llama.cpp #3921: more rows than a grid of 16 bits.
TEST_P(Sizes, MoreRowsThanSixteenBits) {
  checker::Placement placement;
  for (int64_t rows : {65535, 65536, 70000, 250880}) {
    checker::LinearCase c;
    c.parts = {{Format::q4_0, rows}};
    c.cols = 32, c.n = rows == 70000 ? 9 : 1;
    const auto outcome = checker::LinearProblem(c).run(*backend_, placement);
    EXPECT_EQ(outcome.verdict, checker::Verdict::passed) << rows << " rows: " << outcome.reason;
  }
}

TEST_P(Sizes, MoreSlotsThanSixteenBits) {
  checker::Placement placement;
  checker::LinearCase c;
  c.parts = {{Format::q8_0, 16}};
  c.cols = 32, c.n = 8192, c.experts = 16, c.used = 8;
  const auto outcome = checker::LinearProblem(c).run(*backend_, placement);
  EXPECT_EQ(outcome.verdict, checker::Verdict::passed) << outcome.reason;
}

// The kernels' own arithmetic: 256000 x 12288 as tiles, all zero but for the last block of the last row.
TEST(KernelSizes, TilesBeyondTwoBillionElements) {
  using Tile = cpu::TileQ4_0;
  constexpr int64_t kRows = 256000, kCols = 12288, kTiles = kCols / 32;
  const auto best = *cpu::find_isa("auto");
  if (best == cpu::Isa::scalar) GTEST_SKIP() << "three billion products take too long without vectors";
  const Lazy memory(size_t(kRows / 16 * kTiles) * Tile::kBytes);
  ASSERT_TRUE(memory.bytes().data());
  const Matrix block = Matrix::random(Format::q4_0, 1, 32, 6);
  Tile::Block b;
  std::memcpy(&b, block.bytes.data(), sizeof b);
  Tile::pack(b, 15, reinterpret_cast<uint8_t*>(memory.bytes().data()) + memory.bytes().size() - Tile::kBytes);

  const cpu::VectorKernels& kernels = *cpu::kernels_for(best);
  std::vector<float> x(kCols), decoded(32), y(kRows, 1.0f);
  x.back() = 127;
  std::vector<cpu::QuantisedBlock> blocks(kCols / 256);
  kernels.quantise(x.data(), kCols, cpu::ActivationForm::int8_32, blocks.data(), 1);
  std::vector<cpu::QuantisedBlock> scratch(cpu::kLinearScratch / sizeof(cpu::QuantisedBlock) + 1);
  cpu::LinearJob job;
  job.weights = reinterpret_cast<const uint8_t*>(memory.bytes().data());
  job.row_bytes = kTiles * Tile::kBytes;
  job.rows = kRows, job.cols = kCols;
  job.x = blocks.data(), job.x_rows = 1;
  job.y = y.data(), job.y_stride = kRows, job.n = 1;
  job.scratch = reinterpret_cast<uint8_t*>(scratch.data());
  kernels.linear(Format::q4_0).run(job);
  info(Format::q4_0).decode(block.bytes.data(), decoded.data(), 1);
  EXPECT_FLOAT_EQ(y.back(), 127 * decoded[31]);
  y.back() = 0;
  EXPECT_EQ(y, std::vector<float>(kRows));
}

TEST(MatrixBytes, AroundThirtyTwoBits) {
  for (int64_t rows : {(int64_t(1) << 31) - 1, int64_t(1) << 31, (int64_t(1) << 31) + 1, (int64_t(1) << 32) + 1}) {
    EXPECT_EQ(*matrix_bytes({Format::q4_0, rows, 32, 1}), uint64_t(rows) * 18);
    EXPECT_EQ(*matrix_bytes({Format::q4_0, 3, 32, rows}), uint64_t(rows) * 54);
    EXPECT_EQ(*matrix_bytes({Format::f16, 5, rows, 1}), uint64_t(rows) * 10);
  }
  EXPECT_FALSE(matrix_bytes({Format::f32, int64_t(1) << 31, int64_t(1) << 31, 1}));
  EXPECT_FALSE(matrix_bytes({Format::q4_0, int64_t(1) << 62, 32, 1}));
  EXPECT_FALSE(matrix_bytes({Format::q4_0, -1, 32, 1}));
}

}  // namespace
}  // namespace soffit::test

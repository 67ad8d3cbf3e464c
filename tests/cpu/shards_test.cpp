// Shards of matrices: which bytes they take, that they are used where they lie, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends.hpp"
#include "guarded.hpp"
#include "products.hpp"
#include "soffit/matrix.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <class T>
std::string message(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

// Rows, columns and experts of a matrix by their definition.
std::vector<std::byte> gathered(const Matrix& m, int64_t first_row, int64_t rows, int64_t first_col, int64_t cols,
                                int64_t first_expert, int64_t experts) {
  const FormatInfo& f = info(m.description.format);
  const auto bytes_of = [&](int64_t columns) { return columns / f.block_elements * f.block_bytes; };
  std::vector<std::byte> bytes;
  for (int64_t e = first_expert; e < first_expert + experts; ++e)
    for (int64_t r = first_row; r < first_row + rows; ++r) {
      const auto from =
          m.bytes.begin() + (e * m.description.rows + r) * bytes_of(m.description.cols) + bytes_of(first_col);
      bytes.insert(bytes.end(), from, from + bytes_of(cols));
    }
  return bytes;
}

class Shards : public testing::TestWithParam<Format> {
 protected:
  int64_t block() const { return info(GetParam()).block_elements; }
  int64_t cols() const { return block() == 1 ? 51 : 3 * block(); }
  Matrix matrix() const { return Matrix::random(GetParam(), 37, cols(), 1, 4); }
  std::unique_ptr<Weights> upload(const MatrixShard& shard, Layout layout,
                                  std::shared_ptr<const void> owner = nullptr) {
    auto weights = *backend_->new_weights({&shard.matrix, 1}, layout);
    EXPECT_EQ(message(weights->adopt(0, shard.source, std::move(owner))), "no error");
    EXPECT_TRUE(weights->finish());
    return weights;
  }
  std::unique_ptr<Backend> backend_ = make_backend({"scalar", false});
};
INSTANTIATE_TEST_SUITE_P(Formats, Shards, testing::ValuesIn(all_kernel_formats()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

// A corner: some rows of some columns of some experts, in each layout.
TEST_P(Shards, OfShardsReadBackAsTheBytesTheyAre) {
  const Matrix m = matrix();
  const int64_t first_col = block() == 1 ? 5 : block(), count = block() == 1 ? 33 : 2 * block();
  const auto rows = *row_shard(m.description, {m.bytes}, 3, 33);
  const auto corner = *column_shard(rows.matrix, rows.source, first_col, count);
  const auto shard = *expert_shard(corner.matrix, corner.source, 1, 2);
  const auto expected = gathered(m, 3, 33, first_col, count, 1, 2);
  EXPECT_EQ(dense_bytes(shard.matrix, shard.source), expected);
  for (Layout layout : {Layout::automatic, Layout::file}) {
    const auto weights = upload(shard, layout);
    EXPECT_EQ(weights->file_bytes(), expected.size());
    EXPECT_EQ(weights->rows(), 33);
    EXPECT_EQ(weights->cols(), count);
    EXPECT_EQ(weights->experts(), 2);
    std::vector<std::byte> back(expected.size());
    ASSERT_TRUE(weights->read(0, 0, back));
    EXPECT_EQ(back, expected);
    std::vector<std::byte> piece(size_t(*row_bytes(GetParam(), count)) + 3);
    ASSERT_TRUE(weights->read(0, 2, piece));
    EXPECT_TRUE(std::equal(piece.begin(), piece.end(), expected.begin() + 2));
  }
}

// The file's layout is used where it lies, gaps and all: what changes there is seen, and the owner is kept.
TEST_P(Shards, AreUsedInPlace) {
  const Matrix m = matrix();
  auto memory = std::make_shared<std::vector<std::byte>>(m.bytes);
  const std::weak_ptr<std::vector<std::byte>> watch = memory;
  const auto rows = *row_shard(m.description, {*memory}, 3, 20);
  const auto shard = *column_shard(rows.matrix, rows.source, block(), block());
  auto weights = upload(shard, Layout::file, memory);
  EXPECT_EQ(weights->layout_name(0), info(GetParam()).name);
  auto* first = const_cast<std::byte*>(shard.source.bytes.data());
  memory.reset();
  ASSERT_FALSE(watch.expired());
  std::vector<std::byte> before(weights->file_bytes()), after(before.size());
  ASSERT_TRUE(weights->read(0, 0, before));
  *first ^= std::byte{1};
  ASSERT_TRUE(weights->read(0, 0, after));
  EXPECT_NE(before[0], after[0]);
  weights.reset();
  EXPECT_TRUE(watch.expired());
}

// Rows that lie at odd addresses and odd distances are right all the same.
TEST_P(Shards, OddStridesAreTaken) {
  const Matrix m = Matrix::random(GetParam(), 18, cols(), 2, 2);
  const auto row = size_t(*row_bytes(GetParam(), cols()));
  const MatrixSource odd{{}, row + 3, 18 * (row + 3) + 1};
  std::vector<std::byte> spaced(1 + odd.expert_stride + 17 * odd.row_stride + row, std::byte{0xff});
  for (size_t e = 0; e < 2; ++e)
    for (size_t r = 0; r < 18; ++r)
      std::copy_n(m.bytes.begin() + ptrdiff_t((e * 18 + r) * row), row,
                  spaced.begin() + ptrdiff_t(1 + e * odd.expert_stride + r * odd.row_stride));
  for (Layout layout : {Layout::automatic, Layout::file}) {
    const auto weights =
        upload({m.description, {std::span(spaced).subspan(1), odd.row_stride, odd.expert_stride}}, layout);
    std::vector<std::byte> back(m.bytes.size());
    ASSERT_TRUE(weights->read(0, 0, back));
    EXPECT_EQ(back, m.bytes);
    const Array from = make_array(*backend_, 2, cols(), random_x(2 * cols(), 3));
    const Array ids = make_array(*backend_, 2, 1, std::vector<int32_t>{1, 0});
    const Array one = make_array(*backend_, 2, 18), two = make_array(*backend_, 2, 18);
    const auto dense = m.upload(*backend_, layout);
    const auto x = make_activations(*backend_, 2, *weights), y = make_activations(*backend_, 2, *dense);
    run_plan(*backend_, {Prepare{from.view, x.get()}, LinearId{weights.get(), x.get(), ids.view, false, one.view, {}},
                         Prepare{from.view, y.get()}, LinearId{dense.get(), y.get(), ids.view, false, two.view, {}}});
    EXPECT_EQ(read_floats(one), read_floats(two));
  }
}

TEST_P(Shards, ThatAreNotThereAreRefused) {
  const Matrix m = matrix();
  const MatrixSource source{m.bytes};
  for (const auto& [first, count] :
       {std::pair<int64_t, int64_t>{-1, 2}, {0, -1}, {0, 38}, {37, 1}, {INT64_MAX, INT64_MAX}}) {
    EXPECT_THAT(message(row_shard(m.description, source, first, count)), HasSubstr("of 37"));
    EXPECT_THAT(message(expert_shard(m.description, source, first, count)), HasSubstr("of 4"));
  }
  EXPECT_THAT(message(column_shard(m.description, source, 0, cols() + block())), HasSubstr(std::to_string(cols())));
  if (block() > 1) {
    EXPECT_THAT(message(column_shard(m.description, source, 1, block())), HasSubstr(std::to_string(block())));
    EXPECT_THAT(message(column_shard(m.description, source, 0, block() + 1)), HasSubstr(std::to_string(block())));
  }
  EXPECT_FALSE(row_shard(m.description, {std::span(m.bytes).first(m.bytes.size() - 1)}, 0, 1));
  // Nothing is a shard too.
  EXPECT_EQ(message(row_shard(m.description, source, 37, 0)), "no error");
}

TEST_P(Shards, StridesThatCannotBeAreRefused) {
  const Matrix m = matrix();
  const auto row = uint64_t(*row_bytes(GetParam(), cols()));
  const auto refused = [&](uint64_t row_stride, uint64_t expert_stride, uint64_t size) {
    auto weights = *backend_->new_weights({&m.description, 1}, Layout::file);
    const MatrixSource source{std::span(m.bytes).first(size), row_stride, expert_stride};
    EXPECT_EQ(message(weights->adopt(0, source, nullptr)), message(resolve(m.description, source)));
    return message(resolve(m.description, source));
  };
  const uint64_t all = m.bytes.size();
  EXPECT_EQ(refused(0, 0, all), "no error");
  EXPECT_EQ(refused(row, 37 * row, all), "no error");
  EXPECT_THAT(refused(0, 0, all - 1), HasSubstr(std::to_string(all)));
  EXPECT_THAT(refused(row - 1, 0, all), AllOf(HasSubstr("row stride"), HasSubstr(std::to_string(row))));
  EXPECT_THAT(refused(0, row - 1, all), HasSubstr("expert stride"));
  EXPECT_THAT(refused(row + 1, 0, all), HasSubstr("ends at byte"));
  EXPECT_THAT(refused(0, 37 * row + 1, all), AllOf(HasSubstr("ends at byte"), HasSubstr(std::to_string(all + 3))));
  for (uint64_t huge : {UINT64_MAX, uint64_t(1) << 63, UINT64_MAX / 36 + 1}) {
    EXPECT_NE(refused(huge, 0, all), "no error");
    EXPECT_NE(refused(0, huge, all), "no error");
    EXPECT_NE(refused(huge, huge, all), "no error");
  }
}

}  // namespace
}  // namespace soffit::test

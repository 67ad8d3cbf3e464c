// Weights: written in any pieces, adopted, read back in any pieces, from every layout.
#include <gtest/gtest.h>

#include "backends.hpp"
#include "check/blocks.hpp"
#include "guarded.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

using checker::Blocks;

std::vector<std::byte> random_bytes(const MatrixDescription& m, Blocks kind) {
  std::vector<std::byte> bytes(*matrix_bytes(m));
  checker::Random random(uint64_t(m.rows * 31 + m.experts));
  checker::fill_blocks(m.format, kind, random, bytes);
  return bytes;
}

class WeightsTest : public testing::TestWithParam<Format> {
 protected:
  int64_t cols() const { return info(GetParam()).block_elements == 1 ? 37 : 3 * info(GetParam()).block_elements; }
  std::unique_ptr<Weights> create(const MatrixDescription& m, Layout layout) {
    const MatrixDescription parts[] = {m};
    auto weights = backend_->new_weights(parts, layout);
    EXPECT_TRUE(weights);
    return weights ? *std::move(weights) : nullptr;
  }
  std::unique_ptr<Backend> backend_ = make_backend({"scalar", false});
};
INSTANTIATE_TEST_SUITE_P(Formats, WeightsTest, testing::ValuesIn(all_kernel_formats()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

TEST_P(WeightsTest, ReadGivesBackTheFilesBytes) {
  for (int64_t rows : {1, 15, 16, 17, 31, 32, 33})
    for (int64_t experts : {1, 3})
      for (Layout layout : {Layout::automatic, Layout::file})
        for (Blocks kind : {Blocks::random, Blocks::any_bytes}) {
          const MatrixDescription m{GetParam(), rows, cols(), experts};
          const auto bytes = random_bytes(m, kind);
          const auto adopted = create(m, layout), written = create(m, layout);
          ASSERT_TRUE(adopted->adopt(0, bytes, nullptr));
          PiecesPlacement pieces;
          ASSERT_TRUE(pieces.fill(*written, 0, {bytes}));
          for (const auto& weights : {adopted.get(), written.get()}) {
            ASSERT_TRUE(weights->finish());
            std::vector<std::byte> back(bytes.size());
            ASSERT_TRUE(weights->read(0, 0, back));
            EXPECT_EQ(back, bytes) << rows << " rows, " << experts << " experts, " << weights->layout_name(0);
            // Any piece alone.
            for (size_t at = 1; at < bytes.size(); at = at * 2 + 3) {
              const size_t count = std::min<size_t>(bytes.size() - at, 101);
              std::vector<std::byte> piece(count);
              ASSERT_TRUE(weights->read(0, at, piece));
              EXPECT_TRUE(std::equal(piece.begin(), piece.end(), bytes.begin() + ptrdiff_t(at)));
            }
          }
        }
}

TEST_P(WeightsTest, RepackedLayoutsHaveANameAndTheFilesSize) {
  const MatrixDescription m{GetParam(), 32, cols(), 2};
  const auto file = create(m, Layout::file), repacked = create(m, Layout::automatic);
  EXPECT_EQ(file->layout_name(0), info(GetParam()).name);
  if (info(GetParam()).block_elements > 1) {
    EXPECT_NE(repacked->layout_name(0), info(GetParam()).name);
  }
  for (const auto& weights : {file.get(), repacked.get()}) {
    EXPECT_EQ(weights->file_bytes(), *matrix_bytes(m));
    EXPECT_LE(double(weights->layout_bytes()), 1.02 * double(weights->file_bytes()));
  }
}

// The file's layout is used where it lies: no copy, the owner kept as long as the weights live, no write to it.
TEST_P(WeightsTest, TheFilesLayoutIsUsedInPlace) {
  const MatrixDescription m{GetParam(), 20, cols(), 1};
  auto memory = std::make_shared<Guarded>(*matrix_bytes(m), Against::back);
  checker::Random random(3);
  checker::fill_blocks(m.format, Blocks::random, random, memory->bytes());
  const std::vector<std::byte> bytes(memory->bytes().begin(), memory->bytes().end());
  auto weights = create(m, Layout::file);
  const auto span = memory->bytes();
  ASSERT_TRUE(weights->adopt(0, span, memory));
  std::weak_ptr<Guarded> watch = memory;
  memory.reset();
  ASSERT_TRUE(weights->finish());
  ASSERT_FALSE(watch.expired());
  // What is changed in the file's memory is seen, so nothing was copied.
  span[0] ^= std::byte{1};
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(weights->read(0, 0, back));
  EXPECT_NE(back, bytes);
  weights.reset();
  EXPECT_TRUE(watch.expired());
}

TEST_P(WeightsTest, UnalignedBytesAreTakenToo) {
  const MatrixDescription m{GetParam(), 18, cols(), 1};
  const auto bytes = random_bytes(m, Blocks::random);
  std::vector<std::byte> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  const auto x = random_x(2 * m.cols, 5);
  for (Layout layout : {Layout::automatic, Layout::file}) {
    const auto a = create(m, layout), b = create(m, layout);
    ASSERT_TRUE(a->adopt(0, bytes, nullptr));
    ASSERT_TRUE(b->adopt(0, std::span(shifted).subspan(1), nullptr));
    ASSERT_TRUE(a->finish());
    ASSERT_TRUE(b->finish());
    EXPECT_EQ(multiply(*backend_, *a, x), multiply(*backend_, *b, x));
  }
}

TEST_P(WeightsTest, MisuseIsAnErrorThatNamesTheNumbers) {
  const MatrixDescription m{GetParam(), 17, cols(), 1};
  const auto bytes = random_bytes(m, Blocks::random);
  const auto size = bytes.size();
  const auto message = [](const Status& status) { return status ? std::string("no error") : status.error().message; };
  auto weights = create(m, Layout::automatic);
  EXPECT_NE(message(weights->write(0, 1, std::span(bytes).first(1))).find('1'), std::string::npos);
  EXPECT_FALSE(weights->write(1, 0, bytes));
  EXPECT_FALSE(weights->adopt(0, std::span(bytes).first(size - 1), nullptr));
  ASSERT_TRUE(weights->write(0, 0, std::span(bytes).first(size - 1)));
  EXPECT_NE(message(weights->finish()).find(std::to_string(size)), std::string::npos);
  EXPECT_FALSE(weights->adopt(0, bytes, nullptr));
  EXPECT_FALSE(weights->write(0, size - 1, std::span(bytes).first(2)));
  std::vector<std::byte> back(size);
  EXPECT_FALSE(weights->read(0, 0, back));
  ASSERT_TRUE(weights->write(0, size - 1, std::span(bytes).last(1)));
  ASSERT_TRUE(weights->finish());
  EXPECT_FALSE(weights->write(0, 0, bytes));
  EXPECT_FALSE(weights->read(0, 1, back));
  EXPECT_FALSE(weights->read(0, UINT64_MAX, std::span(back).first(1)));
  EXPECT_FALSE(weights->read(2, 0, back));
}

TEST_P(WeightsTest, ShapesThatCannotBeAreRefused) {
  const auto refused = [&](MatrixDescription m) {
    const MatrixDescription parts[] = {m};
    return !backend_->new_weights(parts, Layout::automatic);
  };
  EXPECT_TRUE(refused({GetParam(), -1, cols(), 1}));
  EXPECT_TRUE(refused({GetParam(), 1, -256, 1}));
  EXPECT_TRUE(refused({GetParam(), 1, cols(), -1}));
  EXPECT_TRUE(refused({GetParam(), int64_t(1) << 40, int64_t(1) << 40, 1}));
  EXPECT_TRUE(refused({GetParam(), int64_t(1) << 32, cols() * 256, int64_t(1) << 32}));
  if (info(GetParam()).block_elements > 1) {
    EXPECT_TRUE(refused({GetParam(), 1, cols() + 1, 1}));
  }
  EXPECT_FALSE(backend_->new_weights({}, Layout::automatic));
  const MatrixDescription different[] = {{GetParam(), 4, 512, 1}, {GetParam(), 4, 768, 1}};
  EXPECT_FALSE(backend_->new_weights(different, Layout::automatic));
}

}  // namespace
}  // namespace soffit::test

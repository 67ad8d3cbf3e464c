// Bands are written in order, whole, and by any number of threads alike.
#include "convert/band_writer.hpp"

#include <gtest/gtest.h>

#include "core/concat.hpp"
#include "matrices.hpp"

namespace soffit::convert {
namespace {

using gguf::test::TemporaryDirectory;

// Byte i of a tensor.
std::byte place(uint64_t i) { return std::byte(uint8_t(i * 167 / 131)); }

// The data of a file with tensors of these sizes.
std::vector<std::byte> written(const std::vector<int64_t>& sizes, int threads, size_t band_bytes) {
  TemporaryDirectory folder;
  const auto writer = gguf::Writer::create(folder / "f.gguf", 1);
  EXPECT_TRUE(writer);
  for (size_t i = 0; i < sizes.size(); ++i)
    EXPECT_TRUE((*writer)->describe(concat("t", i), find_format("i8")->id, std::span(&sizes[i], 1)));
  auto out = BandWriter::create(**writer, threads, 0, {});
  EXPECT_TRUE(out);
  for (const int64_t size : sizes) {
    const Status status = out->write(uint64_t(size), band_bytes, [&](uint64_t band, std::span<std::byte> to, int) {
      for (size_t i = 0; i < to.size(); ++i) to[i] = place(band * band_bytes + i);
    });
    EXPECT_TRUE(status);
  }
  EXPECT_TRUE(out->flush());
  EXPECT_TRUE((*writer)->finish());
  std::vector<std::byte> data;
  const auto file = test::open(folder / "f.gguf");
  for (const gguf::Tensor& tensor : file->tensors()) data.insert(data.end(), tensor.bytes.begin(), tensor.bytes.end());
  return data;
}

TEST(BandWriter, WritesBandsInOrder) {
  // Less than a band, one band, none, several batches with a last band of one byte, several without.
  const std::vector<int64_t> sizes = {1, 99, 100, 0, 4001, 10000};
  std::vector<std::byte> expected;
  for (const int64_t size : sizes)
    for (int64_t i = 0; i < size; ++i) expected.push_back(place(uint64_t(i)));
  for (const int threads : {1, 2, 3, 7}) EXPECT_EQ(written(sizes, threads, 100), expected) << threads;
}

TEST(BandWriter, ReportsProgressAndStops) {
  TemporaryDirectory folder;
  const auto writer = gguf::Writer::create(folder / "f.gguf");
  ASSERT_TRUE(writer);
  const int64_t size = 20000;
  ASSERT_TRUE((*writer)->describe("t", find_format("i8")->id, std::span(&size, 1)));
  std::vector<uint64_t> reports;
  auto out = BandWriter::create(**writer, 1, 20000, [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 20000u);
    reports.push_back(done);
    return done < 5000;
  });
  ASSERT_TRUE(out);
  const Status status = out->write(20000, 500, [](uint64_t, std::span<std::byte>, int) {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::cancelled);
  EXPECT_EQ(reports, (std::vector<uint64_t>{2000, 4000, 6000}));
}

}  // namespace
}  // namespace soffit::convert

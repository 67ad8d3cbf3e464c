// File::release: resident memory falls, contents stay.
#include <algorithm>
#include <fstream>
#include <numeric>

#include "expect.hpp"
#include "files.hpp"

namespace soffit::gguf::test {
namespace {

// Of mapped files, in kB.
int64_t resident_file_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes;
    if (word == "RssFile:" && status >> kilobytes) return kilobytes;
  }
  ADD_FAILURE() << "no RssFile in /proc/self/status";
  return 0;
}

TEST(Release, PagesLeaveAndComeBack) {
  const TemporaryDirectory directory;
  constexpr int64_t kBytes = 16 << 20;
  std::vector<std::byte> data(kBytes);
  for (size_t i = 0; i < data.size(); i++) data[i] = std::byte(i * 7 + (i >> 12));
  {
    auto writer = *Writer::create(directory / "model.gguf");
    ASSERT_TRUE(writer->describe("before", 24, std::vector<int64_t>{100}));
    ASSERT_TRUE(writer->describe("large", 24, std::vector<int64_t>{kBytes}));
    ASSERT_TRUE(writer->write(std::vector<std::byte>(100, std::byte(1))));
    ASSERT_TRUE(writer->write(data));
    ASSERT_TRUE(writer->finish());
  }
  const auto file = *File::open(directory / "model.gguf");
  const Tensor* large = file->tensor("large");
  EXPECT_TRUE(std::ranges::equal(large->bytes, data));
  const int64_t before = resident_file_kilobytes();
  file->release(large->bytes);
  EXPECT_LT(resident_file_kilobytes(), before - 15 * 1024);
  EXPECT_TRUE(std::ranges::equal(large->bytes, data));
  EXPECT_EQ(file->tensor("before")->bytes[99], std::byte(1));
}

TEST(Release, ForeignBytesAndParsedFilesAreLeftAlone) {
  const RawBytes raw = sample_file();
  const auto file = *File::parse(raw.bytes(), "sample");
  file->release(raw.bytes());
  EXPECT_EQ(raw.bytes(), sample_file().bytes());
  const TemporaryDirectory directory;
  write_bytes(directory / "sample.gguf", raw.bytes());
  const auto mapped = *File::open(directory / "sample.gguf");
  std::vector<std::byte> foreign(1 << 20, std::byte(5));
  mapped->release(foreign);
  EXPECT_EQ(std::ranges::count(foreign, std::byte(5)), 1 << 20);
}

}  // namespace
}  // namespace soffit::gguf::test

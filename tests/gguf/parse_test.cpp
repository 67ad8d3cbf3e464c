// What the reader accepts, and what it finds there.
#include "expect.hpp"

namespace soffit::gguf::test {
namespace {

using testing::ElementsAre;

// The file looks into these bytes: they have to outlive it.
std::shared_ptr<const File> parsed(const RawBytes& raw) {
  auto file = File::parse(raw.bytes(), "test.gguf");
  if (!file) throw std::runtime_error(file.error().message);
  return *file;
}

TEST(Parse, TensorsOfTheSample) {
  const RawBytes raw = sample_file();
  const auto file = parsed(raw);
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->alignment(), 32u);
  EXPECT_EQ(file->size_bytes(), raw.size());
  EXPECT_EQ(file->parts(), 1u);
  EXPECT_EQ(file->metadata().size(), 25u);
  ASSERT_EQ(file->tensors().size(), 4u);

  const Tensor* matrix = file->tensor("matrix");
  ASSERT_EQ(matrix, &file->tensors()[0]);
  EXPECT_EQ(matrix->format->name, "q8_0");
  EXPECT_THAT(matrix->shape, ElementsAre(32, 3));
  EXPECT_EQ(matrix->elements(), 96);
  EXPECT_EQ(matrix->dimension(1), 3);
  EXPECT_EQ(matrix->dimension(2), 1);
  ASSERT_EQ(matrix->bytes.size(), 102u);
  EXPECT_EQ(matrix->bytes[0], std::byte(0x11));
  EXPECT_EQ(matrix->bytes[101], std::byte(0x11));
  EXPECT_EQ(matrix->bytes.data(), raw.bytes().data() + matrix->file_offset);

  const Tensor* vector = file->tensor("vector");
  ASSERT_NE(vector, nullptr);
  EXPECT_EQ(vector->bytes.size(), 20u);
  EXPECT_EQ(vector->bytes[19], std::byte(0x22));

  const Tensor* nothing = file->tensor("nothing");
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(nothing->elements(), 0);
  EXPECT_TRUE(nothing->bytes.empty());

  const Tensor* scalar = file->tensor("scalar");
  ASSERT_NE(scalar, nullptr);
  EXPECT_EQ(scalar->elements(), 1);
  EXPECT_EQ(scalar->format->name, "i32");
  EXPECT_FALSE(scalar->format->supported);
  EXPECT_EQ(scalar->bytes.size(), 4u);
  EXPECT_EQ(scalar->bytes[3], std::byte(0x33));

  EXPECT_EQ(file->tensor("absent"), nullptr);
  EXPECT_EQ(file->tensor(""), nullptr);
  EXPECT_EQ(file->find("absent"), nullptr);
  EXPECT_STREQ(touch_everything(*file, raw.bytes()), nullptr);
}

TEST(Parse, KeysStayInTheFilesOrderAndAreFound) {
  const RawBytes raw = sample_file();
  const auto file = parsed(raw);
  EXPECT_EQ(file->metadata()[0].key, "general.architecture");
  EXPECT_EQ(file->metadata()[24].key, "strings");
  for (const KeyValue& entry : file->metadata()) EXPECT_EQ(file->find(entry.key), &entry.value);
}

TEST(Parse, VersionTwo) { EXPECT_EQ(parsed(RawBytes().header(0, 0, 2))->version(), 2u); }

TEST(Parse, NoTensorsNoData) {
  const RawBytes raw = RawBytes().header(0, 1).key("k", ValueType::u8).put(uint8_t(1));
  const auto file = parsed(raw);
  EXPECT_TRUE(file->tensors().empty());
}

TEST(Parse, OtherAlignments) {
  for (const uint32_t alignment : {1u, 2u, 64u, 4096u}) {
    RawBytes raw;
    raw.header(2, 1).key("general.alignment", ValueType::u32).put(alignment);
    const uint64_t second = (3 + alignment - 1) / alignment * alignment;
    raw.tensor("a", {3}, 24, 0).tensor("b", {1}, 24, second);
    raw.pad(alignment).fill(3, 1).pad(alignment).fill(1, 2);
    const auto file = parsed(raw);
    EXPECT_EQ(file->alignment(), alignment);
    EXPECT_EQ(file->tensor("a")->bytes[2], std::byte(1)) << alignment;
    EXPECT_EQ(file->tensor("b")->bytes[0], std::byte(2)) << alignment;
  }
}

// Case 54: the padding after the last tensor may be missing, and a file may go on after it.
TEST(Parse, LastTensorNeedsNoPadding) {
  RawBytes raw;
  raw.header(1, 0).tensor("a", {3}, 24, 0).pad().fill(3, 9);
  EXPECT_EQ(parsed(raw)->tensor("a")->bytes.size(), 3u);
  raw.fill(1000);
  EXPECT_EQ(parsed(raw)->tensor("a")->bytes.size(), 3u);
}

TEST(Parse, EmptyTensorsNeedNoDataAtAll) {
  const RawBytes raw = RawBytes().header(1, 0).tensor("a", {0}, 0, 0);
  const auto file = parsed(raw);
  EXPECT_TRUE(file->tensor("a")->bytes.empty());
}

TEST(Parse, EveryKnownTypeIdIsAccepted) {
  for (const FormatInfo& format : all_formats()) {
    RawBytes raw;
    raw.header(1, 0).tensor("t", {int64_t(format.block_elements), 2}, format.id, 0).pad().fill(2 * format.block_bytes);
    const auto file = parsed(raw);
    EXPECT_EQ(file->tensor("t")->format, &format);
    EXPECT_EQ(file->tensor("t")->bytes.size(), 2 * format.block_bytes);
  }
}

TEST(Parse, LongestTensorName) {
  const std::string name(63, 'n');
  EXPECT_NE(parsed(RawBytes().header(1, 0).tensor(name, {0}, 0, 0))->tensor(name), nullptr);
}

}  // namespace
}  // namespace soffit::gguf::test

// What the writer writes, byte for byte, and what it refuses.
#include <sys/resource.h>

#include <csignal>
#include <limits>

#include "expect.hpp"
#include "files.hpp"

namespace soffit::gguf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WriterTest : public testing::Test {
 protected:
  std::unique_ptr<Writer> create(uint32_t alignment = 32) {
    auto writer = Writer::create(path_, alignment);
    EXPECT_TRUE(writer) << writer.error().message;
    return *std::move(writer);
  }
  const TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "model.gguf";
  const std::vector<std::byte> ten_ = std::vector<std::byte>(10, std::byte(7));
};

void expect_invalid(const Status& status, std::string_view text) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::invalid_argument);
  EXPECT_THAT(status.error().message, HasSubstr(text));
}

TEST_F(WriterTest, SampleIsWrittenByteForByteFromOwnedValues) {
  auto writer = create();
  const std::vector<std::pair<const char*, OwnedValue>> values = {
      {"general.architecture", std::string("test")},
      {"u8", uint8_t(200)},
      {"i8", int8_t(-100)},
      {"u16", uint16_t(60000)},
      {"i16", int16_t(-30000)},
      {"u32", uint32_t(4000000000)},
      {"i32", int32_t(-2000000000)},
      {"u64", uint64_t(1) << 63},
      {"i64", int64_t(-1) << 62},
      {"f32", 1.5f},
      {"f64", 0.1},
      {"true", true},
      {"false", false},
      {"u8s", Array(std::vector<uint8_t>{1, 2, 255})},
      {"i8s", Array(std::vector<int8_t>{-1, 127})},
      {"u16s", Array(std::vector<uint16_t>{65535})},
      {"i16s", Array(std::vector<int16_t>{-1, 0, 1})},
      {"u32s", Array(std::vector<uint32_t>{uint32_t(1) << 31})},
      {"i32s", Array(std::vector<int32_t>{-5, 5})},
      {"u64s", Array(std::vector<uint64_t>{7})},
      {"i64s", Array(std::vector<int64_t>{-7})},
      {"f32s", Array(std::vector<float>{0.5f, -0.5f})},
      {"f64s", Array(std::vector<double>{2.5})},
      {"booleans", Array(std::vector<bool>{false, true, true})},
      {"strings", Array(std::vector<std::string>{"a", "", "\xff\n"})},
  };
  for (const auto& [key, value] : values) ASSERT_TRUE(writer->add(key, value)) << key;
  ASSERT_TRUE(writer->describe("matrix", 8, std::vector<int64_t>{32, 3}));
  ASSERT_TRUE(writer->describe("vector", 0, std::vector<int64_t>{5}));
  ASSERT_TRUE(writer->describe("nothing", 1, std::vector<int64_t>{0, 7}));
  ASSERT_TRUE(writer->describe("scalar", 26, {}));
  // In pieces that do not end where tensors do.
  std::vector<std::byte> data(102, std::byte(0x11));
  data.insert(data.end(), 20, std::byte(0x22));
  data.insert(data.end(), 4, std::byte(0x33));
  for (size_t i = 0; i < data.size(); i += 7) {
    ASSERT_TRUE(writer->write(std::span(data).subspan(i, std::min<size_t>(7, data.size() - i))));
  }
  EXPECT_FALSE(std::filesystem::exists(path_)) << "the file appears only when it is finished";
  ASSERT_TRUE(writer->finish());

  // The sample has booleans of other bytes than 1, which are written as 1.
  std::vector<std::byte> expected = sample_file().bytes();
  const auto sample = *File::parse(expected, "sample");
  const auto at = [&](std::span<const std::byte> bytes) { return size_t(bytes.data() - expected.data()); };
  expected[at(sample->find("true")->bytes)] = std::byte(1);
  expected[at(sample->find("booleans")->bytes) + 2] = std::byte(1);
  EXPECT_EQ(read_bytes(path_), expected);
  EXPECT_THAT(directory_.entries(), ElementsAre("model.gguf"));
}

TEST_F(WriterTest, CopyOfTheSampleIsTheSample) {
  const RawBytes raw = sample_file();
  const auto status = copy_model(**File::parse(raw.bytes(), "sample"), path_);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(read_bytes(path_), raw.bytes());
}

TEST_F(WriterTest, AlignmentIsWrittenOnceWhereverItsKeyIs) {
  for (const bool given : {false, true}) {
    auto writer = create(128);
    if (given) {
      ASSERT_TRUE(writer->add("general.alignment", OwnedValue(uint32_t(128))));
    }
    ASSERT_TRUE(writer->add("k", OwnedValue(true)));
    ASSERT_TRUE(writer->describe("a", 24, std::vector<int64_t>{10}));
    ASSERT_TRUE(writer->describe("b", 24, std::vector<int64_t>{10}));
    ASSERT_TRUE(writer->write(ten_));
    ASSERT_TRUE(writer->write(ten_));
    ASSERT_TRUE(writer->finish());
    const auto file = File::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ((*file)->alignment(), 128u);
    EXPECT_EQ((*file)->metadata().size(), 2u);
    EXPECT_EQ((*file)->tensor("b")->file_offset % 128, 0u);
    EXPECT_EQ((*file)->tensor("b")->bytes[9], std::byte(7));
  }
}

TEST_F(WriterTest, WithoutTensorsThereIsNoPadding) {
  auto writer = create();
  ASSERT_TRUE(writer->add("k", OwnedValue(uint8_t(1))));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(std::filesystem::file_size(path_), 24u + 8 + 1 + 4 + 1);
  EXPECT_TRUE(File::open(path_));
}

TEST_F(WriterTest, RefusesWhatTheReaderWould) {
  auto writer = create();
  expect_invalid(writer->add("", OwnedValue(true)), "empty");
  ASSERT_TRUE(writer->add("k", OwnedValue(true)));
  expect_invalid(writer->add("k", OwnedValue(false)), "'k' is there twice");
  expect_invalid(writer->add("general.alignment", OwnedValue(uint32_t(64))), "32");
  expect_invalid(writer->add("general.alignment", OwnedValue(uint64_t(32))), "32");
  ASSERT_TRUE(writer->describe("t", 0, std::vector<int64_t>{1}));
  expect_invalid(writer->describe("t", 0, std::vector<int64_t>{1}), "'t' is there twice");
  expect_invalid(writer->describe(std::string(64, 'n'), 0, std::vector<int64_t>{1}), "64 bytes");
  expect_invalid(writer->describe("u", 4, std::vector<int64_t>{1}), "type id 4");
  expect_invalid(writer->describe("u", 8, std::vector<int64_t>{33}), "33");
  expect_invalid(writer->describe("u", 0, std::vector<int64_t>{1, 1, 1, 1, 1}), "5 dimensions");
  expect_invalid(writer->describe("u", 0, std::vector<int64_t>{-1}), "negative");
  expect_invalid(writer->describe("u", 24, std::vector<int64_t>{std::numeric_limits<int64_t>::max()}), "beyond 2^63");
}

TEST_F(WriterTest, RefusesValuesWhoseBytesAreNotWhatTheirTypeSays) {
  auto writer = create();
  const auto add = [&](Value value) { return writer->add("k", value); };
  Value value;
  value.bytes = ten_;
  value.type = ValueType::u32;
  expect_invalid(add(value), "u32");
  value.type = ValueType(13);
  expect_invalid(add(value), "13");
  value.type = ValueType::array;
  value.element_type = ValueType::u16;
  value.count = 4;
  expect_invalid(add(value), "10 bytes");
  value.element_type = ValueType::array;
  expect_invalid(add(value), "array");
  value.element_type = ValueType::string;
  value.count = 1;
  expect_invalid(add(value), "10 bytes");
  value.count = uint64_t(1) << 40;
  expect_invalid(add(value), "1099511627776");
}

TEST_F(WriterTest, CountsTheTensorsBytes) {
  auto writer = create();
  ASSERT_TRUE(writer->describe("a", 24, std::vector<int64_t>{15}));
  ASSERT_TRUE(writer->write(ten_));
  expect_invalid(writer->finish(), "'a' has 15 bytes, but only 10 were written");
  expect_invalid(writer->write(ten_), "5 bytes more");
  expect_invalid(writer->add("late", OwnedValue(true)), "'late' comes after");
  expect_invalid(writer->describe("late", 0, {}), "'late' comes after");
  ASSERT_TRUE(writer->finish());
  expect_invalid(writer->finish(), "finished already");
}

TEST_F(WriterTest, NothingIsLeftOfAFileThatWasNotFinished) {
  write_bytes(path_, ten_);
  {
    auto writer = create();
    ASSERT_TRUE(writer->describe("a", 24, std::vector<int64_t>{10}));
    ASSERT_TRUE(writer->write(ten_));
    EXPECT_EQ(read_bytes(path_), ten_);
  }
  EXPECT_THAT(directory_.entries(), ElementsAre("model.gguf"));
  EXPECT_EQ(read_bytes(path_), ten_) << "what was there before stays";
}

TEST_F(WriterTest, FullDiskIsAnErrorAndLeavesNothing) {
  // A limit on the size of files stands for the disk's.
  signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  {
    auto writer = create();
    const std::vector<std::byte> large(4 << 20);
    EXPECT_TRUE(writer->describe("a", 24, std::vector<int64_t>{int64_t(large.size())}));
    const Status written = writer->write(large);
    setrlimit(RLIMIT_FSIZE, &old);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::io);
    EXPECT_THAT(written.error().message, HasSubstr("model.gguf"));
    EXPECT_FALSE(writer->finish()) << "a file with a hole must not appear";
  }
  EXPECT_THAT(directory_.entries(), IsEmpty());
}

TEST_F(WriterTest, PathsThatCannotBeWritten) {
  for (const auto& path :
       {directory_ / "no/such/directory.gguf", directory_.path(), std::filesystem::path("/dev/null")}) {
    const auto writer = Writer::create(path);
    ASSERT_FALSE(writer) << path;
    EXPECT_EQ(writer.error().code, Code::io);
    EXPECT_THAT(writer.error().message, HasSubstr(path.string()));
  }
  EXPECT_FALSE(Writer::create(path_, 0));
  EXPECT_FALSE(Writer::create(path_, 48));
  EXPECT_THAT(directory_.entries(), IsEmpty());
}

TEST_F(WriterTest, ReplacesASymbolicLinksTargetNotTheLink) {
  write_bytes(directory_ / "real.gguf", ten_);
  std::filesystem::create_symlink("real.gguf", path_);
  ASSERT_TRUE(create()->finish());
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_TRUE(File::open(directory_ / "real.gguf"));
}

TEST_F(WriterTest, AFileMayBeReplacedWhileItIsOpen) {
  write_bytes(path_, sample_file().bytes());
  const auto file = *File::open(path_);
  const auto status = copy_model(*file, path_);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(file->tensor("matrix")->bytes[0], std::byte(0x11));
}

}  // namespace
}  // namespace soffit::gguf::test

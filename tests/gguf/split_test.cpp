// Models in several files.
#include "gguf/split.hpp"

#include "expect.hpp"
#include "files.hpp"

namespace soffit::gguf::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(SplitName, OnlyOfTheRightForm) {
  const auto name = SplitName::parse("a-b.c-00002-of-00012.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "a-b.c");
  EXPECT_EQ(name->number, 2u);
  EXPECT_EQ(name->count, 12u);
  EXPECT_EQ(name->part(12), "a-b.c-00012-of-00012.gguf");
  EXPECT_EQ(name->part(1), "a-b.c-00001-of-00012.gguf");
  for (const char* other :
       {"", ".gguf", "a.gguf", "a-1-of-2.gguf", "a-00001-of-00002", "a-00003-of-00002.gguf", "a-00000-of-00002.gguf",
        "a-00001-of-0000x.gguf", "a00001-of-00002.gguf", "a-00001_of_00002.gguf", "00001-of-00002.gguf"}) {
    EXPECT_FALSE(SplitName::parse(other)) << other;
  }
}

class Split : public testing::Test {
 protected:
  void SetUp() override {
    const auto status = split_model(*whole_, directory_ / "model", 3);
    ASSERT_TRUE(status) << status.error().message;
  }
  fs::path part(int number) const { return directory_ / ("model-0000" + std::to_string(number) + "-of-00003.gguf"); }
  void expect_refused_file(const fs::path& path, Code code, std::initializer_list<std::string_view> texts) {
    const auto file = File::open(path);
    ASSERT_FALSE(file) << "accepted";
    EXPECT_EQ(file.error().code, code);
    for (const std::string_view text : texts) EXPECT_THAT(file.error().message, HasSubstr(text));
  }
  // Writes a part anew with other split keys and one tensor of the given name.
  void write_part(int number, uint16_t no, uint16_t count, int32_t tensors, std::string_view name) {
    auto writer = *Writer::create(part(number));
    ASSERT_TRUE(writer->add("split.no", OwnedValue(no)));
    ASSERT_TRUE(writer->add("split.count", OwnedValue(count)));
    ASSERT_TRUE(writer->add("split.tensors.count", OwnedValue(tensors)));
    ASSERT_TRUE(writer->describe(name, 24, std::vector<int64_t>{4}));
    ASSERT_TRUE(writer->write(std::vector<std::byte>(4)));
    ASSERT_TRUE(writer->finish());
  }
  const RawBytes raw_ = sample_file();
  const std::shared_ptr<const File> whole_ = *File::parse(raw_.bytes(), "sample");
  const TemporaryDirectory directory_;
};

TEST_F(Split, AnyPartOpensAll) {
  for (int number = 1; number <= 3; number++) {
    const auto opened = File::open(part(number));
    ASSERT_TRUE(opened) << opened.error().message;
    const File& file = **opened;
    EXPECT_EQ(file.parts(), 3u);
    EXPECT_EQ(file.size_bytes(), fs::file_size(part(1)) + fs::file_size(part(2)) + fs::file_size(part(3)));
    EXPECT_EQ(file.metadata().size(), whole_->metadata().size() + 3) << "the first part's";
    EXPECT_EQ(*file.find("general.architecture")->as_string(), "test");
    ASSERT_EQ(file.tensors().size(), whole_->tensors().size());
    for (size_t i = 0; i < file.tensors().size(); i++) {
      const Tensor& tensor = file.tensors()[i];
      const Tensor& expected = whole_->tensors()[i];
      EXPECT_EQ(tensor.name, expected.name);
      EXPECT_EQ(tensor.shape, expected.shape);
      EXPECT_TRUE(std::ranges::equal(tensor.bytes, expected.bytes));
      EXPECT_EQ(file.tensor(tensor.name), &tensor);
      const auto bytes = read_bytes(part(int(tensor.part) + 1));
      EXPECT_TRUE(std::ranges::equal(tensor.bytes, std::span(bytes).subspan(tensor.file_offset, tensor.bytes.size())));
    }
    EXPECT_EQ(file.tensors()[0].part, 0u);
    EXPECT_EQ(file.tensors()[3].part, 2u);
  }
}

TEST_F(Split, WithoutADirectoryInThePath) {
  const fs::path old = fs::current_path();
  fs::current_path(directory_.path());
  const auto file = File::open("model-00002-of-00003.gguf");
  fs::current_path(old);
  EXPECT_TRUE(file) << file.error().message;
}

TEST_F(Split, MissingPartIsNamed) {
  fs::remove(part(2));
  expect_refused_file(part(1), Code::io, {"part 2 of 3", "model-00002-of-00003.gguf"});
}

TEST_F(Split, BrokenPartIsNamed) {
  fs::resize_file(part(3), 40);
  expect_refused_file(part(1), Code::invalid_file, {"part 3 of 3", "model-00003-of-00003.gguf"});
}

TEST_F(Split, RenamedPartCannotFindTheOthers) {
  const fs::path renamed = directory_ / "renamed.gguf";
  fs::rename(part(1), renamed);
  expect_refused_file(renamed, Code::invalid_file, {"renamed.gguf", "part 1 of 3"});
}

TEST_F(Split, PartsThatChangedPlaces) {
  fs::rename(part(2), directory_ / "x");
  fs::rename(part(3), part(2));
  fs::rename(directory_ / "x", part(3));
  expect_refused_file(part(1), Code::invalid_file, {"part 3 of 3 by its keys", "part 2 of 3 by its name"});
  expect_refused_file(part(2), Code::invalid_file, {"is part 3 of 3"});
}

TEST_F(Split, PartOfAnotherModel) {
  write_part(3, 2, 4, 4, "x");
  expect_refused_file(part(1), Code::invalid_file, {"part 3 of 4 by its keys"});
}

TEST_F(Split, NumberOfTensors) {
  write_part(3, 2, 3, 4, "x");  // instead of two
  expect_refused_file(part(1), Code::invalid_file, {"split.tensors.count is 4", "3 parts have 3 tensors"});
}

TEST_F(Split, TensorInTwoParts) {
  write_part(2, 1, 3, 4, "matrix");
  expect_refused_file(part(1), Code::invalid_file, {"'matrix' is there twice", "part 1 and in part 2"});
}

TEST_F(Split, NumberBeyondTheCount) {
  write_part(1, 3, 3, 4, "x");
  expect_refused_file(part(1), Code::invalid_file, {"split.no is 3", "split.count is 3"});
}

TEST(SplitKeys, OneOfOneIsASingleFile) {
  RawBytes raw;
  raw.header(0, 3).key("split.no", ValueType::u16).put(uint16_t(0)).key("split.count", ValueType::u16).put(uint16_t(1));
  raw.key("split.tensors.count", ValueType::i32).put(int32_t(0));
  EXPECT_TRUE(File::parse(raw.bytes(), "a"));
}

TEST(SplitKeys, OfAnotherType) {
  RawBytes raw;
  raw.header(0, 1).key("split.count", ValueType::string).string("three");
  expect_refused(raw, "'split.count'", "string, not an integer");
}

}  // namespace
}  // namespace soffit::gguf::test

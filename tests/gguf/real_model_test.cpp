// The real files through reader and writer.
#include <algorithm>

#include "expect.hpp"
#include "files.hpp"
#include "gguf/mapping.hpp"
#include "models.hpp"

namespace soffit::gguf::test {
namespace {

struct Model {
  std::string_view name;
  std::string_view architecture;
  size_t keys, tensors, vocabulary;
};

class RealModel : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const auto path = find_model(GetParam().name);
    if (!path) GTEST_SKIP() << "model file not found: " << GetParam().name;
    auto file = File::open(*path);
    ASSERT_TRUE(file) << file.error().message;
    path_ = *path;
    file_ = *file;
  }
  std::filesystem::path path_;
  std::shared_ptr<const File> file_;
};

TEST_P(RealModel, HasWhatItShould) {
  const Model& expected = GetParam();
  EXPECT_EQ(*file_->find("general.architecture")->as_string(), expected.architecture);
  EXPECT_EQ(file_->metadata().size(), expected.keys);
  EXPECT_EQ(file_->tensors().size(), expected.tensors);
  const auto tokens = file_->find("tokenizer.ggml.tokens")->as_strings();
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->size(), expected.vocabulary);
  EXPECT_EQ(file_->tensor("token_embd.weight")->dimension(1), int64_t(expected.vocabulary));
}

TEST_P(RealModel, RoundTripIsByteIdentical) {
  const TemporaryDirectory directory;
  const auto status = copy_model(*file_, directory / "copy.gguf");
  ASSERT_TRUE(status) << status.error().message;
  const auto original = Mapping::open(path_, false), copy = Mapping::open(directory / "copy.gguf", false);
  ASSERT_TRUE(original && copy);
  EXPECT_TRUE(std::ranges::equal(original->bytes(), copy->bytes()));
}

TEST_P(RealModel, SplitHasTheSameTensors) {
  const TemporaryDirectory directory;
  const auto status = split_model(*file_, directory / "model", 4);
  ASSERT_TRUE(status) << status.error().message;
  const auto split = File::open(directory / "model-00003-of-00004.gguf");
  ASSERT_TRUE(split) << split.error().message;
  ASSERT_EQ((*split)->tensors().size(), file_->tensors().size());
  for (size_t i = 0; i < file_->tensors().size(); i++) {
    const Tensor& one = file_->tensors()[i];
    const Tensor& other = (*split)->tensors()[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_TRUE(std::ranges::equal(one.bytes, other.bytes)) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RealModel,
                         testing::Values(Model{kSmolLM2, "llama", 33, 272, 49152},
                                         Model{kGemma3, "gemma3", 33, 236, 262144}),
                         [](const auto& info) { return std::string(info.param.architecture); });

}  // namespace
}  // namespace soffit::gguf::test

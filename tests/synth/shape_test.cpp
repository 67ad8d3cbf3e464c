// Shapes: the numbers of parameters are those that the models' publishers state.
#include "synth/shape.hpp"

#include <gmock/gmock.h>

#include <map>

#include "synth/tensors.hpp"

namespace soffit::synth {
namespace {

int64_t elements(const TensorPlan& tensor) {
  int64_t elements = 1;
  for (const int64_t dimension : tensor.shape) elements *= dimension;
  return elements;
}

TEST(Shapes, HaveAsManyParametersAsTheRealModels) {
  const std::map<std::string_view, int64_t> published = {
      {"qwen3-0.6b", 596'049'920},   {"qwen3-1.7b", 1'720'574'976},     {"qwen3-8b", 8'190'735'360},
      {"qwen3-32b", 32'762'123'264}, {"qwen3-30b-a3b", 30'532'122'624}, {"llama-1b", 1'235'814'400},
      {"llama-3b", 3'212'749'824},   {"llama-8b", 8'030'261'248},
  };
  for (const auto& [name, parameters] : published) {
    const auto shape = find_shape(name);
    ASSERT_TRUE(shape) << name;
    int64_t sum = 0;
    for (const TensorPlan& tensor : plan_tensors(*shape))
      if (tensor.role != Role::rope_factors) sum += elements(tensor);  // constants, not parameters
    EXPECT_EQ(sum, parameters) << name;
  }
}

TEST(Shapes, UnknownOnesAreRefusedWithTheList) {
  const auto shape = find_shape("qwen3-9b");
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().code, Code::invalid_argument);
  for (const Shape& known : shapes()) EXPECT_THAT(shape.error().message, testing::HasSubstr(std::string(known.name)));
}

}  // namespace
}  // namespace soffit::synth

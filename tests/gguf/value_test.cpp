// Conversions of metadata values: strict, and defined for every input.
#include <cmath>
#include <limits>

#include "expect.hpp"

namespace soffit::gguf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Values : public testing::Test {
 protected:
  const Value& value(std::string_view key) const {
    static const Value absent;
    const Value* found = file_->find(key);
    EXPECT_NE(found, nullptr) << key;
    return found ? *found : absent;
  }
  const RawBytes raw_ = sample_file();
  const std::shared_ptr<const File> file_ = *File::parse(raw_.bytes(), "test.gguf");
};

TEST_F(Values, Integers) {
  EXPECT_EQ(*value("u8").as_integer(), 200);
  EXPECT_EQ(*value("i8").as_integer(), -100);
  EXPECT_EQ(*value("u16").as_integer(), 60000);
  EXPECT_EQ(*value("i16").as_integer(), -30000);
  EXPECT_EQ(*value("u32").as_integer(), 4000000000);
  EXPECT_EQ(*value("i32").as_integer(), -2000000000);
  EXPECT_EQ(*value("i64").as_integer(), -(int64_t(1) << 62));
  for (const char* key : {"f32", "true", "general.architecture", "u8s", "strings"}) {
    EXPECT_FALSE(value(key).as_integer()) << key;
  }
}

TEST_F(Values, IntegerOver63BitsIsRefused) {
  const auto integer = value("u64").as_integer();
  ASSERT_FALSE(integer);
  EXPECT_THAT(integer.error().message, HasSubstr("9223372036854775808"));
}

TEST_F(Values, Numbers) {
  EXPECT_EQ(*value("f32").as_number(), 1.5);
  EXPECT_EQ(*value("f64").as_number(), 0.1);
  EXPECT_EQ(*value("i8").as_number(), -100.0);
  for (const char* key : {"true", "general.architecture", "f32s"}) EXPECT_FALSE(value(key).as_number()) << key;
}

TEST_F(Values, Booleans) {
  EXPECT_TRUE(*value("true").as_boolean());
  EXPECT_FALSE(*value("false").as_boolean());
  EXPECT_FALSE(value("u8").as_boolean()) << "an integer is no boolean";
  EXPECT_THAT(*value("booleans").as_booleans(), ElementsAre(false, true, true));
  EXPECT_FALSE(value("u8s").as_booleans());
}

TEST_F(Values, Strings) {
  EXPECT_EQ(*value("general.architecture").as_string(), "test");
  EXPECT_THAT(*value("strings").as_strings(), ElementsAre("a", "", "\xff\n"));
  EXPECT_FALSE(value("strings").as_string());
  EXPECT_FALSE(value("general.architecture").as_strings());
}

TEST_F(Values, IntegerArrays) {
  EXPECT_THAT(*value("u8s").as_integers(), ElementsAre(1, 2, 255));
  EXPECT_THAT(*value("i8s").as_integers(), ElementsAre(-1, 127));
  EXPECT_THAT(*value("u16s").as_integers(), ElementsAre(65535));
  EXPECT_THAT(*value("i16s").as_integers(), ElementsAre(-1, 0, 1));
  EXPECT_THAT(*value("u32s").as_integers(), ElementsAre(int64_t(1) << 31));
  EXPECT_THAT(*value("i32s").as_integers(), ElementsAre(-5, 5));
  EXPECT_THAT(*value("u64s").as_integers(), ElementsAre(7));
  EXPECT_THAT(*value("i64s").as_integers(), ElementsAre(-7));
  for (const char* key : {"f32s", "booleans", "strings", "u8"}) EXPECT_FALSE(value(key).as_integers()) << key;
}

TEST_F(Values, NumberArrays) {
  EXPECT_THAT(*value("f32s").as_numbers(), ElementsAre(0.5f, -0.5f));
  EXPECT_THAT(*value("f64s").as_numbers(), ElementsAre(2.5f));
  EXPECT_THAT(*value("i32s").as_numbers(), ElementsAre(-5.f, 5.f));
  EXPECT_FALSE(value("strings").as_numbers());
}

TEST_F(Values, MessagesNameBothTypes) {
  EXPECT_THAT(value("general.architecture").as_integer().error().message, HasSubstr("type string, not an integer"));
  EXPECT_THAT(value("strings").as_integers().error().message, HasSubstr("array of string, not an array of integers"));
}

TEST(ValueArrays, DoublesBeyondFloatAreRefusedInfinitiesPass) {
  const double infinity = std::numeric_limits<double>::infinity();
  RawBytes raw;
  raw.header(0, 2);
  raw.array("special", ValueType::f64, 2).put(-infinity).put(std::nan(""));
  raw.array("large", ValueType::f64, 2).put(1.0).put(1e39);
  const auto file = *File::parse(raw.bytes(), "test.gguf");
  const auto special = file->find("special")->as_numbers();
  ASSERT_TRUE(special);
  EXPECT_EQ((*special)[0], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan((*special)[1]));
  const auto large = file->find("large")->as_numbers();
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("element 1"));
}

// One put together by hand cannot be read outside its bytes.
TEST(ValueByHand, TooFewBytes) {
  const std::byte bytes[3] = {};
  Value value;
  value.bytes = bytes;
  for (const ValueType type : {ValueType::u32, ValueType::i64, ValueType::f32, ValueType::f64}) {
    value.type = type;
    EXPECT_FALSE(value.as_integer() && value.as_number());
    EXPECT_FALSE(value.as_number());
  }
  value.bytes = {};
  value.type = ValueType::boolean;
  EXPECT_FALSE(value.as_boolean());
  value.type = ValueType::array;
  value.count = ~uint64_t(0);
  for (uint32_t element = 0; element < 13; element++) {
    value.element_type = ValueType(element);
    EXPECT_FALSE(value.as_integers());
    EXPECT_FALSE(value.as_numbers());
    EXPECT_FALSE(value.as_booleans());
    EXPECT_FALSE(value.as_strings());
  }
}

}  // namespace
}  // namespace soffit::gguf::test

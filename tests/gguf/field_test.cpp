// Malformed and unusual files that broke other readers, each with the report it comes from. Every refusal must name
// what is wrong with its numbers, and must not allocate what a number in the file asks for.
#include <limits>

#include "allocations.hpp"
#include "expect.hpp"

namespace soffit::gguf::test {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

RawBytes one_tensor(std::initializer_list<int64_t> shape, uint32_t type, uint64_t offset = 0) {
  RawBytes raw;
  raw.header(1, 0).tensor("t", shape, type, offset).pad().fill(64);
  return raw;
}

class Field : public testing::Test {
 protected:
  // Messages and the descriptions of what was read so far; no file here is larger than a few kB.
  void TearDown() override {
    EXPECT_GT(largest_allocation(), 0u) << "nothing was counted";
    EXPECT_LT(largest_allocation(), size_t(64) << 10);
  }
  void SetUp() override { reset_largest_allocation(); }
};

// llama.cpp #27200: ne0 * 18 wraps to 2 bytes.
TEST_F(Field, RowSizeThatWrapsToTwoBytes) {
  expect_refused(one_tensor({5124095576030431008, 1, 1, 1}, 2), "'t'", "2882303761517117442 bytes", "cut short");
}

// llama.cpp #27203: the guard against too many elements itself overflows.
TEST_F(Field, ElementCountThatOverflows) {
  expect_refused(one_tensor({kMax, 2, 1, 1}, 0), "'t'", "[9223372036854775807, 2, 1, 1]",
                 "more than 2^63 - 1 elements");
  expect_refused(one_tensor({2, kMax, kMax, kMax}, 0), "more than 2^63 - 1 elements");
  expect_refused(one_tensor({int64_t(1) << 32, int64_t(1) << 32}, 0), "more than 2^63 - 1 elements");
  expect_refused(one_tensor({kMax}, 0), "more than 2^63 - 1 bytes");
}

// Zero must not hide the overflow of the other dimensions.
TEST_F(Field, ZeroDimensionBesideHugeOnes) {
  expect_refused(one_tensor({0, kMax, kMax}, 0), "more than 2^63 - 1 elements");
  expect_refused(one_tensor({kMax, kMax, 0}, 0), "more than 2^63 - 1 elements");
}

// llama.cpp #18674.
TEST_F(Field, TwoToThe42PlusOne) {
  const int64_t n = (int64_t(1) << 42) + 1;
  expect_refused(one_tensor({n, 1, 1, 1}, 0), "17592186044420 bytes", "cut short");
  expect_refused(one_tensor({n, n, 1, 1}, 0), "more than 2^63 - 1 elements");
}

TEST_F(Field, NegativeDimension) {
  expect_refused(one_tensor({-32, 1}, 8), "[-32, 1]", "negative");
  expect_refused(one_tensor({std::numeric_limits<int64_t>::min()}, 0), "negative");
}

// llama.cpp #15711, #14595, CVE-2025-53630, CVE-2026-27940: counts times a size, and sums of padded sizes, wrap.
TEST_F(Field, CountsThatWrapWhenMultiplied) {
  constexpr uint64_t k = std::numeric_limits<uint64_t>::max();
  for (const uint64_t size : {1, 14, 24, 48, 64, 88, 96, 120, 368, 400}) {
    for (const int delta : {-1, 0, 1}) {
      const int64_t count = int64_t(k / size + uint64_t(delta));
      const char* fault = count < 0 ? "negative number" : "cannot lie in the remaining";
      if (count == 0) continue;
      expect_refused(RawBytes().header(count, 0).fill(200), fault, "tensors");
      expect_refused(RawBytes().header(0, count).fill(200), fault, "keys");
      expect_refused(RawBytes().header(count, count).fill(200), fault);
    }
  }
}

TEST_F(Field, PaddedSizesThatSumPast2To64) {
  RawBytes raw;
  // Each has 2^62 bytes; ggml's offset of the fifth would be 2^64, that is 0 again.
  raw.header(5, 0);
  for (uint64_t i = 0; i < 5; i++) raw.tensor("t" + std::to_string(i), {int64_t(1) << 62}, 24, i << 62);
  raw.pad().fill(64);
  expect_refused(raw, "'t0'", "cut short");
  // One tensor and an alignment that rounds its size up to 2^63.
  RawBytes aligned;
  aligned.header(1, 1).key("general.alignment", ValueType::u32).put(uint32_t(1) << 31).tensor("t", {kMax}, 24, 0);
  expect_refused(aligned, "'t'", "cut short");
}

// 1bit-MONSTER #1606, #511, #1295.
TEST_F(Field, HugeStringLength) {
  for (const uint64_t length :
       {uint64_t(0x0fffffffffffffff), ~uint64_t(0), uint64_t(1) << 63, uint64_t(1) << 30, uint64_t(41)}) {
    const std::string number = std::to_string(length);
    expect_refused(RawBytes().header(0, 1).put(length).fill(40), "key 0", number, "40 remain");
    expect_refused(RawBytes().header(0, 1).key("k", ValueType::string).put(length).fill(40), "'k'", number,
                   "40 remain");
    expect_refused(RawBytes().header(1, 0).put(length).fill(40), "tensor 0", number, "40 remain");
  }
}

TEST_F(Field, HugeArrays) {
  for (const uint64_t count : {uint64_t(1) << 61, ~uint64_t(0), uint64_t(1) << 30, uint64_t(5)}) {
    const std::string number = std::to_string(count);
    for (const ValueType type : {ValueType::u64, ValueType::string, ValueType::f64}) {
      expect_refused(RawBytes().header(0, 1).array("a", type, count).fill(32), "'a'", number, "remaining 32 bytes");
    }
  }
  expect_refused(RawBytes().header(0, 1).array("a", ValueType::u8, (uint64_t(1) << 30) + 1).fill(32), "1073741825");
}

// 1bit-MONSTER #1295: a reader that takes every array element for 4 bytes loses its place.
TEST_F(Field, ArraysBeforeTheTensors) {
  RawBytes raw;
  raw.header(1, 5);
  raw.array("u8", ValueType::u8, 3).fill(3);
  raw.array("i16", ValueType::i16, 3).fill(6);
  raw.array("u64", ValueType::u64, 3).fill(24);
  raw.array("boolean", ValueType::boolean, 5).fill(5);
  raw.array("string", ValueType::string, 2).string("abc").string("");
  raw.tensor("t", {2}, 0, 0).pad().fill(8, 0x5a);
  const auto file = File::parse(raw.bytes(), "test.gguf");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_NE((*file)->tensor("t"), nullptr);
  EXPECT_EQ((*file)->tensor("t")->bytes[7], std::byte(0x5a));
}

TEST_F(Field, StringArrayWhoseLastStringIsCutShort) {
  RawBytes raw;
  raw.header(0, 1).array("tokens", ValueType::string, 2).string("abc").put(uint64_t(9)).text("12345678");
  expect_refused(raw, "string 1 of array 'tokens'");
}

TEST_F(Field, ArrayOfArrays) {
  RawBytes raw;
  raw.header(0, 1).array("a", ValueType::array, 1).put(uint32_t(0)).put(uint64_t(1)).fill(64);
  expect_refused(raw, "'a'", "array of arrays");
}

// llama.cpp #24884: the process ended.
TEST_F(Field, EmptyKey) { expect_refused(RawBytes().header(0, 1).key("", ValueType::u8).fill(16), "key 0 is empty"); }

// whisper.cpp #3924.
TEST_F(Field, UnknownValueType) {
  for (const uint32_t type : {13u, 14u, 255u, 0xffffffffu}) {
    expect_refused(RawBytes().header(0, 1).key("k", type).fill(32), "'k'", "value type " + std::to_string(type));
    expect_refused(RawBytes().header(0, 1).array("k", ValueType(type), 1).fill(32), "'k'",
                   "element type " + std::to_string(type));
  }
}

// llama.cpp #24446, and the ids that ggml removed.
TEST_F(Field, UnknownAndRemovedTensorTypes) {
  for (const uint32_t id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 43u, 142u, 143u, 999u, 0x80000000u, 0xffffffffu}) {
    expect_refused(one_tensor({256}, id), "'t'", "type id " + std::to_string(id) + " ");
  }
}

TEST_F(Field, RowsThatAreNoWholeBlocks) {
  expect_refused(one_tensor({31, 32}, 8), "'t'", "31", "32", "q8_0");
  expect_refused(one_tensor({128}, 12), "'t'", "128", "256", "q4_k");
  expect_refused(one_tensor({}, 12), "'t'", "rows of 1", "q4_k");
}

// ollama #8456.
TEST_F(Field, OffsetThatIsNotAligned) { expect_refused(one_tensor({4}, 0, 4), "'t'", "offset 4", "32"); }

TEST_F(Field, OffsetsOutOfOrderOrWithGaps) {
  expect_refused(one_tensor({4}, 0, 32), "'t'", "offset 32", "end at 0");
  RawBytes overlap;
  overlap.header(2, 0).tensor("a", {9}, 0, 0).tensor("b", {8}, 0, 32).pad().fill(128);
  expect_refused(overlap, "'b'", "offset 32", "end at 64");
  expect_refused(one_tensor({4}, 0, uint64_t(1) << 63), "offset 9223372036854775808");
}

TEST_F(Field, DataCutShort) {
  RawBytes raw;
  raw.header(1, 0).tensor("blk.0.ffn_up.weight", {8}, 0, 0).pad().fill(31);
  expect_refused(raw, "'blk.0.ffn_up.weight'", "32 bytes", "only " + std::to_string(raw.size()) + " bytes",
                 "cut short");
}

// llama.cpp #3298, #11234, #11349, #26618; ollama #17826.
TEST_F(Field, Versions) {
  const auto with_version = [](uint32_t version) { return RawBytes().header(0, 0, version); };
  expect_refused(with_version(0), "version 0 is too old");
  expect_refused(with_version(1), "version 1 is too old");
  EXPECT_TRUE(File::parse(with_version(2).bytes(), ""));
  EXPECT_TRUE(File::parse(with_version(3).bytes(), ""));
  expect_refused(with_version(4), "version 4 is newer");
  expect_refused(with_version(0x03000000), "0x03000000", "other endianness");
  expect_refused(with_version(0x02000000), "0x02000000", "other endianness");
}

// llama.cpp #14381: raw bytes of the magic went to the terminal.
TEST_F(Field, OtherFilesAreNamedByTheirFirstBytesEscaped) {
  expect_refused(RawBytes().text("\x1b[2J and more"), "no GGUF file", "'\\x1b[2J'");
  expect_refused(RawBytes().text("PK\x03\x04 a zip file"), "'PK\\x03\\x04'");
  expect_refused(RawBytes().text("\xff\xfe\x80\x81....."), "'\\xff\\xfe\\x80\\x81'");
  expect_refused(RawBytes().text("GG"), "2 bytes are too few");
  expect_refused(RawBytes(), "0 bytes are too few");
}

TEST_F(Field, NamesInMessagesAreEscapedAndCut) {
  expect_refused(RawBytes().header(0, 1).key("\x1b]0;owned\x07", 99).fill(9), "'\\x1b]0;owned\\x07'");
  expect_refused(RawBytes().header(0, 1).key(std::string(5000, 'k'), 99).fill(9), std::string(80, 'k') + "…'");
}

TEST_F(Field, NameThatIsTooLong) {
  expect_refused(RawBytes().header(1, 0).tensor(std::string(64, 'n'), {1}, 0, 0).pad().fill(32), "64 bytes", "63");
}

TEST_F(Field, KeysAndTensorsThatAreThereTwice) {
  RawBytes keys;
  keys.header(0, 3);
  for (const char* name : {"a", "b", "a"}) keys.key(name, ValueType::u8).fill(1);
  expect_refused(keys, "key 'a' is there twice", "number 0 and 2");
  RawBytes tensors;
  tensors.header(3, 0).tensor("x", {1}, 0, 0).tensor("y", {1}, 0, 32).tensor("y", {1}, 0, 64).pad().fill(96);
  expect_refused(tensors, "tensor 'y' is there twice", "number 1 and 2");
}

TEST_F(Field, TooManyDimensions) {
  expect_refused(one_tensor({1, 1, 1, 1, 1}, 0), "'t'", "5 dimensions", "4");
  expect_refused(RawBytes().header(1, 0).string("t").put(uint32_t(0xffffffff)).fill(64), "4294967295 dimensions");
}

TEST_F(Field, Alignment) {
  const auto with_alignment = [](ValueType type, auto value) {
    return RawBytes().header(0, 1).key("general.alignment", type).put(value);
  };
  expect_refused(with_alignment(ValueType::u32, uint32_t(0)), "alignment' is 0");
  expect_refused(with_alignment(ValueType::u32, uint32_t(33)), "alignment' is 33");
  expect_refused(with_alignment(ValueType::u32, uint32_t(0xffffffff)), "alignment' is 4294967295");
  expect_refused(with_alignment(ValueType::u64, uint64_t(32)), "of type u64, not u32");
  expect_refused(with_alignment(ValueType::i32, int32_t(32)), "of type i32, not u32");
  // The largest one: the data would begin 2 GiB into the file.
  RawBytes raw;
  raw.header(1, 1).key("general.alignment", ValueType::u32).put(uint32_t(1) << 31).tensor("t", {1}, 0, 0).fill(64);
  expect_refused(raw, "offset 2147483648", "cut short");
}

// Every shorter beginning of a file is refused, or is a file whose every part can be read.
TEST(Truncation, AtEveryByte) {
  const RawBytes raw = sample_file();
  size_t accepted = 0;
  for (size_t size = 0; size < raw.size(); size++) {
    const ExactBytes exact(std::span(raw.bytes()).first(size));
    const auto file = File::parse(exact.view(), "cut.gguf");
    if (file) {
      accepted++;
      EXPECT_STREQ(touch_everything(**file, exact.view()), nullptr) << size;
    } else {
      EXPECT_EQ(file.error().code, Code::invalid_file) << size;
    }
  }
  EXPECT_EQ(accepted, 28u);  // only the padding after the last tensor can go
}

// Every byte of the header replaced by some others: no crash, and what is accepted can be read.
TEST(Corruption, OfEveryByte) {
  const RawBytes raw = sample_file();
  for (size_t i = 0; i < raw.size(); i++) {
    for (const uint8_t byte : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      ExactBytes exact(raw.bytes());
      exact.data[i] = std::byte(byte);
      if (const auto file = File::parse(exact.view(), "bad.gguf")) {
        EXPECT_STREQ(touch_everything(**file, exact.view()), nullptr) << "byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace soffit::gguf::test

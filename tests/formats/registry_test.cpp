// The table of type ids, and the size of a row.
#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "formats/formats.hpp"
#include "support.hpp"

namespace soffit::test {
namespace {

using testing::HasSubstr;

struct Row {
  uint32_t id;
  const char* name;
  uint32_t elements, bytes;
};
// ggml_type of ggml d99724f: every live id.
constexpr Row kTypes[] = {
    {0, "f32", 1, 4},         {1, "f16", 1, 2},         {2, "q4_0", 32, 18},      {3, "q4_1", 32, 20},
    {6, "q5_0", 32, 22},      {7, "q5_1", 32, 24},      {8, "q8_0", 32, 34},      {9, "q8_1", 32, 36},
    {10, "q2_k", 256, 84},    {11, "q3_k", 256, 110},   {12, "q4_k", 256, 144},   {13, "q5_k", 256, 176},
    {14, "q6_k", 256, 210},   {15, "q8_k", 256, 292},   {16, "iq2_xxs", 256, 66}, {17, "iq2_xs", 256, 74},
    {18, "iq3_xxs", 256, 98}, {19, "iq1_s", 256, 50},   {20, "iq4_nl", 32, 18},   {21, "iq3_s", 256, 110},
    {22, "iq2_s", 256, 82},   {23, "iq4_xs", 256, 136}, {24, "i8", 1, 1},         {25, "i16", 1, 2},
    {26, "i32", 1, 4},        {27, "i64", 1, 8},        {28, "f64", 1, 8},        {29, "iq1_m", 256, 56},
    {30, "bf16", 1, 2},       {34, "tq1_0", 256, 54},   {35, "tq2_0", 256, 66},   {39, "mxfp4", 32, 17},
    {40, "nvfp4", 64, 36},    {41, "q1_0", 128, 18},    {42, "q2_0", 64, 18},
};
const std::set<uint32_t> kWithKernels = {0, 1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 20, 23, 30, 34, 35, 39};

TEST(Registry, ListsEveryIdInOrder) {
  ASSERT_EQ(all_formats().size(), std::size(kTypes));
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    const FormatInfo& f = all_formats()[i];
    EXPECT_EQ(f.id, kTypes[i].id);
    EXPECT_EQ(f.name, kTypes[i].name);
    EXPECT_EQ(f.block_elements, kTypes[i].elements) << f.name;
    EXPECT_EQ(f.block_bytes, kTypes[i].bytes) << f.name;
    EXPECT_EQ(f.supported, kWithKernels.contains(f.id)) << f.name;
    EXPECT_EQ(f.decode != nullptr, f.supported) << f.name;
    EXPECT_EQ(f.encode != nullptr, f.supported) << f.name;
    EXPECT_EQ(find_format(f.id), &f);
    EXPECT_EQ(find_format(f.name), &f);
  }
}

TEST(Registry, DoesNotKnowRemovedOrUnknownIds) {
  for (uint32_t id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 43u, 142u, 143u, 999u, ~0u})
    EXPECT_EQ(find_format(id), nullptr) << id;
}

TEST(Registry, FindsNamesInAnyCase) {
  EXPECT_EQ(find_format("Q4_K")->id, 12u);
  EXPECT_EQ(find_format("iQ4_nL")->id, 20u);
  for (const char* name : {"", "q4", "q4_k ", "q4_k_m", "unknown", "q4-k"})
    EXPECT_EQ(find_format(name), nullptr) << name;
}

TEST(Registry, DescribesFormatsWithKernels) {
  Formats::for_each([]<class F>() {
    EXPECT_EQ(info(F::kFormat).id, uint32_t(F::kFormat));
    EXPECT_EQ(info(F::kFormat).block_bytes, sizeof(typename F::Block));
    EXPECT_EQ(info(F::kFormat).block_elements, uint32_t(F::kElements));
  });
  for (uint32_t id : {4u, 9u, 40u, 999u}) {
    EXPECT_EQ(info(Format(id)).name, "unknown") << id;
    EXPECT_FALSE(info(Format(id)).supported) << id;
  }
}

TEST(RowBytes, CountsBlocks) {
  EXPECT_EQ(*row_bytes(Format::q4_k, 0), 0);
  EXPECT_EQ(*row_bytes(Format::q4_k, 4096), 2304);
  EXPECT_EQ(*row_bytes(Format::q4_0, 576), 324);
  EXPECT_EQ(*row_bytes(Format::f32, 7), 28);
  EXPECT_EQ(*row_bytes(Format::tq1_0, int64_t(1) << 40), (int64_t(1) << 32) * 54);
}

TEST(RowBytes, RefusesWhatIsNoRow) {
  const auto refused = [](Format format, int64_t cols, const char* number, const char* reason) {
    const auto r = row_bytes(format, cols);
    ASSERT_FALSE(r) << cols;
    EXPECT_EQ(r.error().code, Code::invalid_argument);
    EXPECT_THAT(r.error().message, HasSubstr(number));
    EXPECT_THAT(r.error().message, HasSubstr(reason));
  };
  refused(Format::q4_k, 576, "576", "256");
  refused(Format::q8_0, -32, "-32", "negative");
  refused(Format::f32, std::numeric_limits<int64_t>::min(), "-9223372036854775808", "negative");
  refused(Format::f32, std::numeric_limits<int64_t>::max(), "9223372036854775807", "2^63");
  refused(Format(9), 32, "9", "kernels");
  // The last number of columns whose bytes fit, and the next.
  const int64_t fits = std::numeric_limits<int64_t>::max() / 4;
  EXPECT_EQ(*row_bytes(Format::f32, fits), fits * 4);
  refused(Format::f32, fits + 1, std::to_string(fits + 1).c_str(), "2^63");
  const int64_t blocks = std::numeric_limits<int64_t>::max() / 34;
  EXPECT_EQ(*row_bytes(Format::q8_0, blocks * 32), blocks * 34);
  refused(Format::q8_0, (blocks + 1) * 32, std::to_string((blocks + 1) * 32).c_str(), "2^63");
}

}  // namespace
}  // namespace soffit::test

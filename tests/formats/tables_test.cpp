// The tables: their values, their hash (llama.cpp #5219: a device decoded with a stale copy), and blocks.h as plain C.
#include <algorithm>

#include "formats/blocks.h"
#include "formats/formats.hpp"
#include "support.hpp"
#include "tables_c.h"

namespace soffit::test {
namespace {

// Of the bytes as stored, FNV-1a. A device's test computes the same over its own copy.
uint64_t hash(const int8_t* table, size_t n) {
  uint64_t h = 0xcbf29ce484222325;
  for (size_t i = 0; i < n; ++i) h = (h ^ uint8_t(table[i])) * 0x100000001b3;
  return h;
}

TEST(Tables, Values) {
  for (int code = 0; code < 16; ++code) {
    // The oracle's own tables, through blocks of scale one.
    std::vector<uint8_t> uneven(18, uint8_t(code)), e2m1(17, uint8_t(code));
    set_word(uneven, 0, 0x3c00);
    e2m1[0] = 128;
    EXPECT_EQ(kIq4Values[code], oracle::element(Format::iq4_nl, uneven.data(), 0).value);
    EXPECT_EQ(kE2m1Doubled[code], oracle::element(Format::mxfp4, e2m1.data(), 0).value);
  }
}

TEST(Tables, Hashes) {
  EXPECT_EQ(hash(kIq4Values, 16), 0x55d06d2d8fa0f75u);
  EXPECT_EQ(hash(kE2m1Doubled, 16), 0x3f0e3c08af1e5eb5u);
}

TEST(Tables, SameInPlainC) {
  EXPECT_TRUE(std::equal(kIq4Values, kIq4Values + 16, c_iq4_values()));
  EXPECT_TRUE(std::equal(kE2m1Doubled, kE2m1Doubled + 16, c_e2m1_doubled()));
}

TEST(Blocks, SameLayoutInPlainC) {
  Formats::for_each([]<class F>() {
    if (is_plain(F::kFormat)) return;
    EXPECT_EQ(c_block_size(F::kName.data()), sizeof(typename F::Block)) << F::kName;
  });
}

// IQ4: what is half way between two values goes to the upper one, and each value to itself.
TEST(Tables, NearestUnevenValue) {
  for (int half_steps = -400; half_steps <= 400; ++half_steps) {
    const float v = float(half_steps) / 2;
    int nearest = 0;
    for (int k = 1; k < 16; ++k)
      if (std::fabs(kIq4Values[k] - v) <= std::fabs(kIq4Values[nearest] - v)) nearest = k;
    EXPECT_EQ(nearest_iq4(v), nearest) << v;
    const float inside = v + 0.24f;
    nearest = 0;
    for (int k = 1; k < 16; ++k)
      if (std::fabs(kIq4Values[k] - inside) < std::fabs(kIq4Values[nearest] - inside)) nearest = k;
    EXPECT_EQ(nearest_iq4(inside), nearest) << inside;
  }
}

}  // namespace
}  // namespace soffit::test

// Which weights a byte of a block holds, against the formats' pictures.
#include "metal/block_weights.hpp"

#include <gtest/gtest.h>

#include "metal/payload.hpp"

namespace soffit::metal {
namespace {

using Weights = std::vector<uint32_t>;

TEST(BlockWeights, AreThoseOfTheLayout) {
  const auto q4_k = weights_of_bytes(Format::q4_k);
  ASSERT_EQ(q4_k.size(), 144u);
  EXPECT_EQ(q4_k[0], Weights());              // a scale
  EXPECT_EQ(q4_k[16], (Weights{0, 32}));      // the nibbles of the first byte of codes
  EXPECT_EQ(q4_k[143], (Weights{223, 255}));  // and of the last
  const auto tq1_0 = weights_of_bytes(Format::tq1_0);
  EXPECT_EQ(tq1_0[0], (Weights{0, 32, 64, 96, 128}));
  EXPECT_EQ(tq1_0[48], (Weights{240, 244, 248, 252}));  // four digits
  const auto q6_k = weights_of_bytes(Format::q6_k);
  EXPECT_EQ(q6_k[0], (Weights{0, 64}));
  EXPECT_EQ(q6_k[128], (Weights{0, 32, 64, 96}));  // two bits of each
}

// Every weight's code lies in payload, and no payload is without a weight.
TEST(BlockWeights, CoverEveryFormat) {
  for (const FormatInfo& format : all_formats()) {
    if (!format.supported) continue;
    SCOPED_TRACE(format.name);
    const auto weights = weights_of_bytes(Format(format.id));
    const lanes::BlockLayout layout = block_layout(Format(format.id));
    std::vector<bool> found(format.block_elements);
    for (uint32_t i = 0; i < format.block_bytes; ++i) {
      EXPECT_EQ(weights[i].empty(), !layout.is_payload(i)) << "byte " << i;
      for (const uint32_t w : weights[i]) found[w] = true;
    }
    for (uint32_t w = 0; w < format.block_elements; ++w) EXPECT_TRUE(found[w]) << "weight " << w;
  }
}

}  // namespace
}  // namespace soffit::metal

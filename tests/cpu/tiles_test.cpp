// Tiles alone: every bit of 16 blocks goes into a tile of the same size and comes back.
#include <gtest/gtest.h>

#include <cstring>

#include "backends.hpp"
#include "check/random.hpp"
#include "cpu/kernels.hpp"
#include "cpu/packing.hpp"
#include "cpu/tiles/ternary.hpp"

namespace soffit::test {
namespace {

// Every tile type, by its place in the list.
class Tile : public testing::TestWithParam<int> {
 protected:
  const cpu::TilePacking packing_ = cpu::tile_packing(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Types, Tile, testing::Range(0, cpu::tile_count()), [](const auto& p) {
  return std::string(soffit::info(cpu::tile_packing(p.param).format).name).append("_").append(std::to_string(p.param));
});

// Every set takes each format of blocks in a tile of its own.
TEST(Tiles, AreThereForEveryFormatOfBlocks) {
  for (Format format : all_kernel_formats()) {
    const int tile = cpu::scalar_kernels().linear(format).tile;
    EXPECT_EQ(tile >= 0, info(format).block_elements > 1) << info(format).name;
    if (tile >= 0) {
      EXPECT_EQ(cpu::tile_packing(tile).format, format);
    }
  }
}

TEST_P(Tile, HoldsSixteenBlocksInTheirSize) {
  ASSERT_NE(packing_.columns, 0);
  EXPECT_EQ(packing_.columns, int(info(packing_.format).block_elements));
  EXPECT_EQ(packing_.block_bytes, int(info(packing_.format).block_bytes));
  EXPECT_EQ(packing_.bytes, 16 * packing_.block_bytes);
}

TEST_P(Tile, RandomBytesComeBack) {
  checker::Random random(1);
  const auto size = size_t(packing_.block_bytes);
  int64_t kept = 0;
  for (int round = 0; round < 200; ++round) {
    const size_t stride = size + size_t(random.below(40));
    std::vector<uint8_t> blocks(16 * stride), tile(16 * size);
    for (auto& b : blocks) b = uint8_t(random.next());
    packing_.pack(blocks.data(), int64_t(stride), 16, tile.data());
    for (int row = 0; row < 16; ++row) {
      const uint8_t* block = blocks.data() + size_t(row) * stride;
      if (packing_.packable && !packing_.packable(block)) {
        ++kept;
        continue;
      }
      std::vector<uint8_t> back(size);
      packing_.unpack(tile.data(), row, back.data());
      ASSERT_EQ(std::memcmp(back.data(), block, size), 0) << "row " << row;
    }
  }
  EXPECT_EQ(kept > 0, packing_.format == Format::tq1_0) << "only TQ1_0 has bytes that are written in more than one way";
}

TEST_P(Tile, MissingRowsAreZeroBytes) {
  const auto size = size_t(packing_.block_bytes);
  const std::vector<uint8_t> blocks(5 * size, 0);
  std::vector<uint8_t> tile(16 * size, 0xaa), zero(size), back(size);
  packing_.pack(blocks.data(), int64_t(size), 5, tile.data());
  for (int row = 5; row < 16; ++row) {
    packing_.unpack(tile.data(), row, back.data());
    if (packing_.format != Format::q8_0) {
      EXPECT_EQ(back, zero);
    }
  }
}

// All 256 bytes: those that an encoder writes are kept, the others are told apart, and every digit decodes alike.
template <class TernaryTile>
class TernaryTiles : public testing::Test {};
using BothTernaryTiles = testing::Types<cpu::TileTQ1_0, cpu::TileTQ1_0Numbers>;
TYPED_TEST_SUITE(TernaryTiles, BothTernaryTiles);
TYPED_TEST(TernaryTiles, KnowEveryByteThatIsNotCanonical) {
  int canonical = 0;
  for (int byte = 0; byte < 256; ++byte) {
    typename TypeParam::Block block{};
    std::memset(block.qs, byte, sizeof block.qs);
    std::memset(block.qh, 0, sizeof block.qh);
    const bool packable = TypeParam::packable(block);
    canonical += packable;
    std::vector<uint8_t> tile(TypeParam::kBytes);
    TypeParam::pack(block, 3, tile.data());
    typename TypeParam::Block back{};
    TypeParam::unpack(tile.data(), 3, back);
    EXPECT_EQ(std::memcmp(&back, &block, sizeof block) == 0, packable) << "byte " << byte;
    float before[256], after[256];
    TQ1_0::decode(block, before);
    TQ1_0::decode(back, after);
    EXPECT_EQ(std::memcmp(before, after, sizeof before), 0) << "byte " << byte;
  }
  EXPECT_EQ(canonical, 243);
}

}  // namespace
}  // namespace soffit::test

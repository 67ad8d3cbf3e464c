// Decoding against the oracle, bit for bit and exhaustively.
#include "support.hpp"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace soffit::test {
namespace {

class Decode : public EachFormat {
 protected:
  // Decodes one block and compares elements first, first + step, …
  void compare(const std::vector<uint8_t>& block, int first = 0, int step = 1) {
    f.decode(reinterpret_cast<const std::byte*>(block.data()), y.data(), 1);
    for (int i = first; i < int(f.block_elements); i += step) {
      const double exact = oracle::element(format, block.data(), i).value;
      if (!same(y[i], exact)) {
        ADD_FAILURE() << f.name << " element " << i << ": " << y[i] << ", exactly " << exact;
        return;
      }
    }
  }
  std::vector<float> y = std::vector<float>(f.block_elements);
};

// Random blocks until every element has shown every code, and every group every scale with every code and every
// minimum.
TEST_P(Decode, EveryCodeScaleAndMinimum) {
  const auto shape = oracle::shape(format);
  const int elements = int(f.block_elements), groups = elements / shape.group;
  std::vector<bool> codes(elements * shape.codes), scaled(groups * shape.scales * shape.codes),
      pairs(groups * shape.scales * shape.minima);
  size_t missing = codes.size() + scaled.size() + pairs.size();
  const auto mark = [&](std::vector<bool>& seen, size_t at) {
    if (!seen[at]) seen[at] = true, --missing;
  };
  Random random(1);
  std::vector<uint8_t> block(f.block_bytes);
  int blocks = 0;
  for (; (missing > 0 || blocks < 4096) && blocks < 200'000 && !HasFailure(); ++blocks) {
    fill_random(block, random);
    compare(block);
    for (int i = 0; i < elements; ++i) {
      const auto e = oracle::element(format, block.data(), i);
      const size_t scale = size_t(i / shape.group) * shape.scales + e.scale;
      mark(codes, size_t(i) * shape.codes + e.code);
      mark(scaled, scale * shape.codes + e.code);
      mark(pairs, scale * shape.minima + e.minimum);
    }
  }
  EXPECT_EQ(missing, 0u) << "combinations that " << blocks << " blocks have not shown";
}

// Subnormals, zeros of both signs, infinities and NaNs included.
TEST_P(Decode, EveryHalfInEachField) {
  Random random(2);
  std::vector<uint8_t> block(f.block_bytes);
  for (int field : oracle::half_fields(format))
    for (int h = 0; h < 65536 && !HasFailure(); ++h) {
      fill_random(block, random);
      set_word(block, field, uint16_t(h));
      const int step = f.block_elements == 256 ? 16 : 1;
      compare(block, h % step, step);
    }
}

TEST_P(Decode, BlocksOfOneByteValue) {
  for (int value = 0; value < 256; ++value) compare(std::vector<uint8_t>(f.block_bytes, uint8_t(value)));
}

TEST_P(Decode, SeveralBlocksAtAnOddAddress) {
  constexpr size_t kBlocks = 7;
  Random random(3);
  std::vector<uint8_t> bytes(kBlocks * f.block_bytes);
  fill_random(bytes, random);
  // Exactly as long as allowed, so that an address sanitizer sees any access beyond.
  std::vector<uint8_t> shifted(1 + bytes.size());
  std::memcpy(shifted.data() + 1, bytes.data(), bytes.size());
  std::vector<float> ys(kBlocks * f.block_elements);
  f.decode(reinterpret_cast<const std::byte*>(shifted.data() + 1), ys.data(), kBlocks);
  for (size_t i = 0; i < ys.size(); ++i) {
    const uint8_t* block = bytes.data() + i / f.block_elements * f.block_bytes;
    EXPECT_TRUE(same(ys[i], oracle::element(format, block, int(i % f.block_elements)).value))
        << f.name << " value " << i;
  }
  f.decode(reinterpret_cast<const std::byte*>(shifted.data() + 1), nullptr, 0);
}

#ifdef __SSE__
// llama.cpp #7843: subnormal scales must not depend on the processor's flush-to-zero mode. (MXFP4 is apart: its two
// lowest scales are subnormal as fp32.)
TEST_P(Decode, SubnormalHalfScalesWhileFlushingToZero) {
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  Random random(4);
  std::vector<uint8_t> block(f.block_bytes);
  std::vector<float> flushed(f.block_elements);
  for (int field : oracle::half_fields(format))
    for (int h = 1; h < 1024; ++h)
      for (int sign : {0, 0x8000}) {
        fill_random(block, random);
        for (int other : oracle::half_fields(format)) set_word(block, other, uint16_t(random() % 1024));
        set_word(block, field, uint16_t(h | sign));
        const unsigned mode = _mm_getcsr();
        _mm_setcsr(mode | kFlushToZero | kDenormalsAreZero);
        f.decode(reinterpret_cast<const std::byte*>(block.data()), flushed.data(), 1);
        _mm_setcsr(mode);
        compare(block);
        ASSERT_EQ(std::memcmp(flushed.data(), y.data(), y.size() * sizeof(float)), 0) << f.name << " scale " << h;
      }
}
#endif

INSTANTIATE_TEST_SUITE_P(Formats, Decode, testing::ValuesIn(formats_with_kernels()), format_name);

TEST(DecodeMxfp4, EveryExponentAndCode) {
  for (int e = 0; e < 256; ++e) {
    std::vector<uint8_t> block(17);
    block[0] = uint8_t(e);
    for (int j = 0; j < 16; ++j) block[1 + j] = uint8_t(j | (15 - j) << 4);
    const auto y = decode(Format::mxfp4, block);
    for (int i = 0; i < 32; ++i) {
      const double exact = oracle::element(Format::mxfp4, block.data(), i).value;
      const bool too_large = std::fabs(exact) >= 0x1p128;
      ASSERT_TRUE(too_large ? y[i] == std::copysign(INFINITY, exact) : same(y[i], exact))
          << "e " << e << " element " << i;
    }
  }
}

}  // namespace
}  // namespace soffit::test

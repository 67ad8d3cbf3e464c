#include "synth/random_blocks.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "core/half.hpp"
#include "formats/formats.hpp"
#include "text/random.hpp"

namespace soffit::synth {
namespace {

using text::Random;

// What a block gets besides random bytes: a scale of about the wanted size, and bits to spend.
struct Draw {
  double scale;
  uint64_t bits;

  uint16_t half() const { return float_to_half(float(scale)); }
  // Either sign: formats whose codes are not symmetric have mean 0 all the same.
  uint16_t signed_half() const { return uint16_t(half() | (bits & 1) << 15); }
};

// Mean square of the integers low…high.
constexpr double mean_square(int low, int high) {
  double sum = 0;
  for (int i = low; i <= high; ++i) sum += double(i) * i;
  return sum / (high - low + 1);
}

template <size_t N>
constexpr double mean_square(const int8_t (&values)[N]) {
  double sum = 0;
  for (const int8_t value : values) sum += double(value) * value;
  return sum / N;
}

// complete() makes of a block of random bytes one that an encoder could have written; kMeanSquare is that of its
// weights for a scale of 1.
template <class F>
struct Completion;

template <>
struct Completion<Q4_0> {
  static constexpr double kMeanSquare = mean_square(-8, 7);
  static void complete(BlockQ4_0& block, const Draw& draw) { block.d = draw.signed_half(); }
};

template <>
struct Completion<Q5_0> {
  static constexpr double kMeanSquare = mean_square(-16, 15);
  static void complete(BlockQ5_0& block, const Draw& draw) { block.d = draw.signed_half(); }
};

// The minimum lies as far below 0 as the largest value above.
template <>
struct Completion<Q4_1> {
  static constexpr double kMeanSquare = mean_square(0, 15) - 7.5 * 7.5;
  static void complete(BlockQ4_1& block, const Draw& draw) {
    block.d = draw.half(), block.m = float_to_half(float(-7.5 * draw.scale));
  }
};

template <>
struct Completion<Q5_1> {
  static constexpr double kMeanSquare = mean_square(0, 31) - 15.5 * 15.5;
  static void complete(BlockQ5_1& block, const Draw& draw) {
    block.d = draw.half(), block.m = float_to_half(float(-15.5 * draw.scale));
  }
};

template <>
struct Completion<Q8_0> {
  static constexpr double kMeanSquare = mean_square(-127, 127) * 255 / 256;
  static void complete(BlockQ8_0& block, const Draw& draw) {
    block.d = draw.half();
    for (int8_t& q : block.qs) q = q == -128 ? int8_t(0) : q;
  }
};

// Scales of the upper half of their range, and minima that centre the weights up to the lowest bit.
template <>
struct Completion<Q2_K> {
  static constexpr double kMeanSquare = mean_square(8, 15) * (mean_square(0, 3) - 1.5 * 1.5);
  static void complete(BlockQ2_K& block, const Draw& draw) {
    block.d = draw.half(), block.dmin = float_to_half(float(1.5 * draw.scale));
    for (uint8_t& scale : block.scales) scale = uint8_t((scale & 7) | 8) * 0x11;
  }
};

template <class Block>
void complete_scales_and_minima(Block& block, const Draw& draw, double middle) {
  block.d = draw.half(), block.dmin = float_to_half(float(middle * draw.scale));
  uint8_t scales[8], minima[8];
  for (int g = 0; g < 8; ++g) {
    scales[g] = uint8_t(32 | (block.scales[g] & 31));
    minima[g] = uint8_t(scales[g] ^ (draw.bits >> g & 1));
  }
  set_scales_and_minima(block.scales, scales, minima);
}

template <>
struct Completion<Q4_K> {
  static constexpr double kMeanSquare = mean_square(32, 63) * (mean_square(0, 15) - 7.5 * 7.5) + 7.5 * 7.5 / 2;
  static void complete(BlockQ4_K& block, const Draw& draw) { complete_scales_and_minima(block, draw, 7.5); }
};

template <>
struct Completion<Q5_K> {
  static constexpr double kMeanSquare = mean_square(32, 63) * (mean_square(0, 31) - 15.5 * 15.5) + 15.5 * 15.5 / 2;
  static void complete(BlockQ5_K& block, const Draw& draw) { complete_scales_and_minima(block, draw, 15.5); }
};

template <>
struct Completion<Q3_K> {
  static constexpr double kMeanSquare = mean_square(-32, 31) * mean_square(-4, 3);
  static void complete(BlockQ3_K& block, const Draw& draw) { block.d = draw.half(); }
};

template <>
struct Completion<Q6_K> {
  static constexpr double kMeanSquare = mean_square(64, 127) * mean_square(-32, 31);
  static void complete(BlockQ6_K& block, const Draw& draw) {
    block.d = draw.half();
    for (int8_t& scale : block.scales) {
      const int size = 64 | (scale & 63);
      scale = int8_t(scale < 0 ? -size : size);
    }
  }
};

template <>
struct Completion<IQ4_NL> {
  static constexpr double kMeanSquare = mean_square(kIq4Values);
  static void complete(BlockIQ4_NL& block, const Draw& draw) { block.d = draw.signed_half(); }
};

template <>
struct Completion<IQ4_XS> {
  static constexpr double kMeanSquare = mean_square(-32, 31) * mean_square(kIq4Values);
  static void complete(BlockIQ4_XS& block, const Draw& draw) { block.d = draw.signed_half(); }
};

// The scale is a power of two: the one below or the one above, as often as gives the right mean square.
template <>
struct Completion<MXFP4> {
  static constexpr double kMeanSquare = mean_square(kE2m1Doubled) / 4;
  static void complete(BlockMXFP4& block, const Draw& draw) {
    int exponent;
    const double fraction = std::frexp(draw.scale, &exponent) * 2;  // 1…2
    const double upper = (fraction * fraction - 1) / 3;
    block.e = uint8_t(exponent - 1 + 127 + (double(draw.bits >> 11) * 0x1p-53 < upper));
  }
};

// Base-3 numbers 0…242, and 121, five zeros, for the other thirteen values of a random byte.
constexpr std::array<uint8_t, 256> make_ternary_bytes(int digits) {
  std::array<uint8_t, 256> bytes{};
  const int unit = digits == 4 ? 3 : 1;  // the fifth digit is 0 where there are four
  for (int i = 0; i < 256; ++i) {
    const int number = (i < 243 ? i : 121) / unit * unit;
    bytes[size_t(i)] = uint8_t((number * 256 + 242) / 243);
  }
  return bytes;
}

template <>
struct Completion<TQ1_0> {
  static constexpr double kMeanSquare = 2.0 / 3 * 243 / 256;
  static void complete(BlockTQ1_0& block, const Draw& draw) {
    static constexpr auto kFive = make_ternary_bytes(5), kFour = make_ternary_bytes(4);
    block.d = draw.half();
    for (uint8_t& byte : block.qs) byte = kFive[byte];
    for (uint8_t& byte : block.qh) byte = kFour[byte];
  }
};

// Code 3, which is no weight, becomes 1, a zero.
template <>
struct Completion<TQ2_0> {
  static constexpr double kMeanSquare = 0.5;
  static void complete(BlockTQ2_0& block, const Draw& draw) {
    block.d = draw.half();
    for (uint8_t& byte : block.qs) byte ^= uint8_t((byte & byte >> 1 & 0x55) << 1);
  }
};

// The three plain formats: one value from 24 random bits, uniform.
template <class F>
requires(F::kElements == 1) struct Completion<F> {
  static constexpr double kMeanSquare = 1;
  static void complete(typename F::Block& block, const Draw& draw) {
    const float value = float(draw.scale * std::sqrt(3.0) * (double(draw.bits >> 40) * 0x1p-23 - 1));
    F::encode(&value, block);
  }
};

void random_bytes(Random& random, void* to, size_t size) {
  auto* bytes = static_cast<std::byte*>(to);
  for (; size >= 8; bytes += 8, size -= 8) {
    const uint64_t word = random.next();
    std::memcpy(bytes, &word, 8);
  }
  const uint64_t word = size > 0 ? random.next() : 0;
  std::memcpy(bytes, &word, size);
}

template <class F>
void fill(Random& random, double deviation, std::span<std::byte> to) {
  using Block = typename F::Block;
  // Scales spread evenly over 3/4…5/4 of their mean (a plain value has no scale to spread).
  const double spread = F::kElements == 1 ? 0 : 0.5;
  const double mean = deviation / std::sqrt(Completion<F>::kMeanSquare * (1 + spread * spread / 12));
  for (size_t i = 0; i + sizeof(Block) <= to.size(); i += sizeof(Block)) {
    Block block;
    if constexpr (F::kElements > 1) random_bytes(random, &block, sizeof block);
    const double scale = mean * (1 + spread * (random.uniform() - 0.5));
    Completion<F>::complete(block, {scale, random.next()});
    std::memcpy(to.data() + i, &block, sizeof block);
  }
}

}  // namespace

uint64_t derive_seed(uint64_t seed, uint64_t number) {
  uint64_t state = seed;
  state = text::split_mix(state) + number;
  return text::split_mix(state);
}

void random_blocks(Format format, uint64_t seed, double deviation, std::span<std::byte> to) {
  Random random(seed);
  Formats::for_each([&]<class F>() {
    if (F::kFormat == format) fill<F>(random, deviation, to);
  });
}

void random_values(uint64_t seed, float low, float high, std::span<std::byte> to) {
  Random random(seed);
  for (size_t i = 0; i + sizeof(float) <= to.size(); i += sizeof(float)) {
    const float value = low + (high - low) * float(random.uniform());
    std::memcpy(to.data() + i, &value, sizeof value);
  }
}

}  // namespace soffit::synth

// NEON without the dot product: 8-bit products widened and summed pairwise into 32-bit lanes, and fp32 FMA.
#include <arm_neon.h>

#include "measure/ceilings.hpp"

namespace soffit::measure {
namespace {

constexpr int kChains = 12;

double widening_multiply(int64_t iterations) {
  int8x16_t bytes = vdupq_n_s8(1);
  int32x4_t sums[kChains] = {};
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      __asm__ volatile("" : "+w"(bytes));  // each product is computed anew
      int16x8_t products = vmull_s8(vget_low_s8(bytes), vget_low_s8(bytes));
      products = vmlal_high_s8(products, bytes, bytes);
      sums[c] = vpadalq_s16(sums[c], products);
      __asm__ volatile("" : "+w"(sums[c]));
    }
  }
  return double(iterations) * kChains * 16 * 2;
}

double fma(int64_t iterations) {
  float32x4_t factor = vdupq_n_f32(0.5f), sums[kChains] = {};
  __asm__ volatile("" : "+w"(factor));
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      sums[c] = vfmaq_f32(sums[c], factor, factor);
      __asm__ volatile("" : "+w"(sums[c]));
    }
  }
  return double(iterations) * kChains * 4 * 2;
}

constexpr PeakLoops kPeaks = {{"smull, smlal, sadalp", widening_multiply}, {"fmla", fma}};

}  // namespace

const PeakLoops& neon_peaks() { return kPeaks; }

}  // namespace soffit::measure

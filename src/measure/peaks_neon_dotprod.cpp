// NEON with the dot product: sdot, four 8-bit products summed into each 32-bit lane.
#include <arm_neon.h>

#include "measure/ceilings.hpp"

namespace soffit::measure {
namespace {

constexpr int kChains = 16;

double dot(int64_t iterations) {
  int8x16_t bytes = vdupq_n_s8(1);
  int32x4_t sums[kChains] = {};
  __asm__ volatile("" : "+w"(bytes));
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      sums[c] = vdotq_s32(sums[c], bytes, bytes);
      __asm__ volatile("" : "+w"(sums[c]));
    }
  }
  return double(iterations) * kChains * 16 * 2;
}

}  // namespace

const PeakLoops& neon_dotprod_peaks() {
  static const PeakLoops kPeaks = {{"sdot", dot}, neon_peaks().float32};
  return kPeaks;
}

}  // namespace soffit::measure

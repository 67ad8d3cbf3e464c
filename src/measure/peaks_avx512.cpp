// AVX-512: vpdpbusd, four 8-bit products summed into each 32-bit lane, and fp32 FMA.
#include <immintrin.h>

#include "measure/ceilings.hpp"

namespace soffit::measure {
namespace {

constexpr int kChains = 12;  // two units of latency 4 or 5

double dpbusd(int64_t iterations) {
  __m512i bytes = _mm512_set1_epi8(1), sums[kChains] = {};
  __asm__ volatile("" : "+v"(bytes));
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      sums[c] = _mm512_dpbusd_epi32(sums[c], bytes, bytes);
      __asm__ volatile("" : "+v"(sums[c]));
    }
  }
  return double(iterations) * kChains * 64 * 2;
}

double fma(int64_t iterations) {
  __m512 factor = _mm512_set1_ps(0.5f), sums[kChains] = {};
  __asm__ volatile("" : "+v"(factor));
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      sums[c] = _mm512_fmadd_ps(factor, factor, sums[c]);
      __asm__ volatile("" : "+v"(sums[c]));
    }
  }
  return double(iterations) * kChains * 16 * 2;
}

constexpr PeakLoops kPeaks = {{"vpdpbusd zmm", dpbusd}, {"vfmadd zmm", fma}};

}  // namespace

const PeakLoops& avx512_peaks() { return kPeaks; }

}  // namespace soffit::measure

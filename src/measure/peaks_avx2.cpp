// AVX2: the pair vpmaddubsw, vpmaddwd with its addition, which 8-bit products take there, and fp32 FMA.
#include <immintrin.h>

#include "measure/ceilings.hpp"

namespace soffit::measure {
namespace {

constexpr int kChains = 10;  // covers latency times throughput, and leaves registers for the operands

double maddubs_pair(int64_t iterations) {
  __m256i bytes = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1), sums[kChains] = {};
  __asm__ volatile("" : "+x"(ones));
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      __asm__ volatile("" : "+x"(bytes));  // each product is computed anew
      const __m256i pairs = _mm256_maddubs_epi16(bytes, bytes);
      sums[c] = _mm256_add_epi32(sums[c], _mm256_madd_epi16(pairs, ones));
      __asm__ volatile("" : "+x"(sums[c]));
    }
  }
  return double(iterations) * kChains * 32 * 2;
}

double fma(int64_t iterations) {
  __m256 factor = _mm256_set1_ps(0.5f), sums[kChains] = {};
  __asm__ volatile("" : "+x"(factor));
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      sums[c] = _mm256_fmadd_ps(factor, factor, sums[c]);
      __asm__ volatile("" : "+x"(sums[c]));
    }
  }
  return double(iterations) * kChains * 8 * 2;
}

constexpr PeakLoops kPeaks = {{"vpmaddubsw, vpmaddwd ymm", maddubs_pair}, {"vfmadd ymm", fma}};

}  // namespace

const PeakLoops& avx2_peaks() { return kPeaks; }

}  // namespace soffit::measure

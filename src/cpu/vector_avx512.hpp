// AVX-512 (F, BW, DQ, VL, VNNI, VBMI, GFNI): one register holds 16 rows.
#pragma once

#include <immintrin.h>

#include <cstring>

#include "cpu/vector_common.hpp"

namespace soffit::cpu {

struct VectorAvx512 : VectorCommon {
  static constexpr const char* kName = "avx512";
  static constexpr bool kSignedCodes = false, kRawCodes = true, kTernaryTables = true;
  static constexpr int kUnrolledTokens = 8;
  static constexpr int kColumns = 8, kPanelTiles = 2, kPanelColumns = 6, kFloatPanelColumns = 12;

  struct FourBytes {
    int8_t q[4];
  };
  using Bytes = __m512i;
  using Four = __m512i;
  struct Ints {
    __m512i v;
  };
  using Floats = __m512;

  static Bytes load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static void store_bytes(uint8_t* p, Bytes b) { _mm512_storeu_si512(p, b); }
  template <int kMask>
  static Bytes and_(Bytes a) {
    return _mm512_and_si512(a, _mm512_set1_epi8(char(kMask)));
  }
  static Bytes or_(Bytes a, Bytes b) { return _mm512_or_si512(a, b); }
  template <int kMask>
  static Bytes merge(Bytes a, Bytes high) {
    return _mm512_ternarylogic_epi64(a, _mm512_set1_epi8(char(kMask)), high, 0xEA);
  }
  template <int kFrom, int kTo, int kCount>
  static Bytes move_bits(Bytes a) {
    if constexpr (kFrom == kTo) {
      return and_<((1 << kCount) - 1) << kTo>(a);
    } else {
      // Bit i of a result is the parity of the byte and byte 7 - i of the matrix.
      constexpr uint64_t kMatrix = [] {
        uint64_t m = 0;
        for (int i = 0; i < kCount; ++i) m |= uint64_t(1) << (kFrom + i) << 8 * (7 - (kTo + i));
        return m;
      }();
      return _mm512_gf2p8affine_epi64_epi8(a, _mm512_set1_epi64(int64_t(kMatrix)), 0);
    }
  }
  template <int N>
  static Bytes shr(Bytes a) {
    if constexpr (N == 0) return a;
    return _mm512_srli_epi16(a, N);
  }
  template <int N>
  static Bytes shl(Bytes a) {
    if constexpr (N == 0) return a;
    return _mm512_slli_epi16(a, N);
  }
  static Bytes lookup(Bytes index, const uint8_t* table) {
    // The table four times, so that bits 4 and 5 of an index do not matter; vpermb does not look at 6 and 7.
    return _mm512_permutexvar_epi8(index,
                                   _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table))));
  }
  // Digit S of the five in each byte (see ternary_code), at bit 2 S, the fifth at bit 0; vpermb looks at the low six
  // bits of its index alone.
  template <int S>
  static Bytes raw_digit(Bytes a) {
    if constexpr (S == 4) return _mm512_permutexvar_epi8(a, load(kTernary.last));
    const __m512i upper = _mm512_set1_epi8(char(0xC0));
    __m512i u = _mm512_permutexvar_epi8(a, load(kTernary.small));
    u = _mm512_mask_permutexvar_epi8(u, _mm512_cmpge_epu8_mask(a, upper), a, load(kTernary.large));
    if constexpr (S == 3) return _mm512_ternarylogic_epi64(u, a, upper, 0x28);  // (u ^ a) & upper
    return and_<(3 << 2 * S)>(u);
  }
  template <int S>
  static Bytes digit(Bytes a) {
    if constexpr (S == 4) return raw_digit<S>(a);
    return shr<2 * S>(raw_digit<S>(a));
  }

  template <int J>
  static Ints byte(Bytes a) {
    if constexpr (J == 3) return {_mm512_srli_epi32(a, 24)};
    return {_mm512_and_si512(_mm512_srli_epi32(a, 8 * J), _mm512_set1_epi32(255))};
  }
  template <int J>
  static Ints signed_byte(Bytes a) {
    return {_mm512_srai_epi32(_mm512_slli_epi32(a, 24 - 8 * J), 24)};
  }
  static Ints ints(int value) { return {_mm512_set1_epi32(value)}; }
  static Ints words(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
  static Ints words16(const uint8_t* p) {
    return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  static Ints add(Ints a, Ints b) { return {_mm512_add_epi32(a.v, b.v)}; }
  static Ints multiply_add(Ints a, Ints b, Ints c) { return {_mm512_add_epi32(_mm512_mullo_epi32(a.v, b.v), c.v)}; }
  template <int N>
  static Ints shift_right_signed(Ints a) {
    return {_mm512_srai_epi32(a.v, N)};
  }
  static Ints and_ints(Ints a, int mask) { return {_mm512_and_si512(a.v, _mm512_set1_epi32(mask))}; }
  template <int N>
  static Ints shift_right(Ints a) {
    return {_mm512_srli_epi32(a.v, N)};
  }
  template <int N>
  static Ints shift_left(Ints a) {
    return {_mm512_slli_epi32(a.v, N)};
  }

  static Floats to_float(Ints a) { return _mm512_cvtepi32_ps(a.v); }
  static Floats set(float x) { return _mm512_set1_ps(x); }
  static Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Floats a) { _mm512_storeu_ps(p, a); }
  static Floats halves(const void* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
  static Floats bfloats(const void* p) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))), 16));
  }
  static Floats half_powers(const uint8_t* p) {
    const __m512i e = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
    const __m512i subnormal = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), e);
    return _mm512_castsi512_ps(
        _mm512_mask_blend_epi32(_mm512_cmplt_epu32_mask(e, _mm512_set1_epi32(2)), normal, subnormal));
  }
  static void store_halves(void* p, Floats a) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats div(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  static Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats abs(Floats a) { return _mm512_abs_ps(a); }
  static Floats negate(Floats a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats fnma(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
  static Floats round(Floats a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Floats scale2(Floats a, Floats n) { return _mm512_scalef_ps(a, n); }
  // Halves are added until one is left, so that every instruction set adds in the same order.
  static float sum(Floats a) {
    const __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
  }
  // Lane i of v[j] to to[i * stride + j].
  [[gnu::always_inline]] static void transpose(const Floats* v, float* to, int stride) {
    Floats a[16], b[16];
    for (int i = 0; i < 16; i += 2) {  // pairs of rows, then fours, inside each quarter of a register
      a[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
      a[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
      for (int h = 0; h < 2; ++h) {
        const __m512d low = _mm512_castps_pd(a[i + h]), high = _mm512_castps_pd(a[i + 2 + h]);
        b[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
        b[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
      }
    // b[4 i + c]: rows 4 i … 4 i + 3 of column c + 4 q in quarter q.
    for (int c = 0; c < 4; ++c) {
      const Floats p = _mm512_shuffle_f32x4(b[c], b[4 + c], 0x44), q = _mm512_shuffle_f32x4(b[c], b[4 + c], 0xee);
      const Floats r = _mm512_shuffle_f32x4(b[8 + c], b[12 + c], 0x44),
                   s = _mm512_shuffle_f32x4(b[8 + c], b[12 + c], 0xee);
      store(to + c * stride, _mm512_shuffle_f32x4(p, r, 0x88));
      store(to + (c + 4) * stride, _mm512_shuffle_f32x4(p, r, 0xdd));
      store(to + (c + 8) * stride, _mm512_shuffle_f32x4(q, s, 0x88));
      store(to + (c + 12) * stride, _mm512_shuffle_f32x4(q, s, 0xdd));
    }
  }
  static float largest(Floats a) { return _mm512_reduce_max_ps(a); }
  static void store_int8(int8_t* p, Floats a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a)));
  }

  static Four four(const int8_t* q) {
    int32_t x;
    __builtin_memcpy(&x, q, 4);
    return _mm512_set1_epi32(x);
  }

  template <int kMaxCode>
  struct Partial {
    __m512i sum;
    void clear() { sum = _mm512_setzero_si512(); }
    void start(const int32_t* value) { sum = _mm512_set1_epi32(*value); }
    // Directly after start(): divides by 2^N, without a remainder.
    template <int N>
    void divide_start() {
      sum = _mm512_srai_epi32(sum, N);
    }
    // By hand: g++ 12 wraps the intrinsic in register moves. Volatile, like the prefetches, to keep them apart.
    void step(Bytes codes, const int8_t* q) {
      __asm__ volatile("vpdpbusd %2%{1to16%}, %1, %0"
                       : "+v"(sum)
                       : "v"(codes), "m"(*reinterpret_cast<const FourBytes*>(q)));
    }
    void step(Bytes codes, Four x) { __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(codes), "v"(x)); }
    Ints total() const { return {sum}; }
  };
  // The line at `near` bytes ahead into L1, the one four times as far into L2. Not the intrinsic: g++ moves those
  // together, and takes a function that only prefetches for one without effect and drops calls to it.
  [[gnu::always_inline]] static void prefetch(const uint8_t* p, int near) {
    __asm__ volatile("prefetcht0 %0" : : "m"(p[near]));
    __asm__ volatile("prefetcht1 %0" : : "m"(p[4 * near]));
  }
};

}  // namespace soffit::cpu

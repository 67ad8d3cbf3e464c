// AVX2 with FMA and F16C: two registers hold 16 rows, rows 0-7 in the first. The int8 product is vpmaddubsw, whose
// 16-bit sums are widened before they can overflow; codes above 127 are taken as signed with the sign moved to the
// activation.
#pragma once

#include <immintrin.h>

#include "cpu/vector_common.hpp"

namespace soffit::cpu {

struct VectorAvx2 : TransposeInMemory<VectorAvx2> {
  static constexpr const char* kName = "avx2";
  static constexpr bool kSignedCodes = true, kRawCodes = false, kTernaryTables = false;
  static constexpr int kUnrolledTokens = 1;
  static constexpr int kColumns = 4, kPanelTiles = 1, kPanelColumns = 4, kFloatPanelColumns = 6;

  struct Bytes {
    __m256i a, b;
  };
  struct Ints {
    __m256i a, b;
  };
  struct Floats {
    __m256 a, b;
  };

  static const __m256i* pointer(const uint8_t* p) { return reinterpret_cast<const __m256i*>(p); }
  static Bytes load(const uint8_t* p) { return {_mm256_loadu_si256(pointer(p)), _mm256_loadu_si256(pointer(p + 32))}; }
  static void store_bytes(uint8_t* p, Bytes x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), x.b);
  }
  template <int kMask>
  static Bytes and_(Bytes x) {
    const __m256i mask = _mm256_set1_epi8(char(kMask));
    return {_mm256_and_si256(x.a, mask), _mm256_and_si256(x.b, mask)};
  }
  static Bytes or_(Bytes x, Bytes y) { return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)}; }
  template <int kMask>
  static Bytes merge(Bytes x, Bytes high) {
    return or_(and_<kMask>(x), high);
  }
  template <int kFrom, int kTo, int kCount>
  static Bytes move_bits(Bytes x) {
    constexpr int kMask = ((1 << kCount) - 1) << kTo;
    if constexpr (kFrom >= kTo)
      return and_<kMask>(shr<kFrom - kTo>(x));
    else
      return and_<kMask>(shl<kTo - kFrom>(x));
  }
  template <int N>
  static Bytes shr(Bytes x) {
    return {_mm256_srli_epi16(x.a, N), _mm256_srli_epi16(x.b, N)};
  }
  template <int N>
  static Bytes shl(Bytes x) {
    return {_mm256_slli_epi16(x.a, N), _mm256_slli_epi16(x.b, N)};
  }
  static Bytes lookup(Bytes index, const uint8_t* table) {
    const __m256i t = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
    const Bytes low = and_<15>(index);
    return {_mm256_shuffle_epi8(t, low.a), _mm256_shuffle_epi8(t, low.b)};
  }
  // The first N digits of each word's number of five digits in base 3, as a number: words are below 256.
  template <int N>
  static __m256i first_digits(__m256i words) {
    constexpr short kReciprocals[] = {810, 2428, 7282, 21846};  // 65536 / 81, / 27, / 9, / 3, and one more
    if constexpr (N == 0) return _mm256_setzero_si256();
    if constexpr (N == 5) return words;
    return _mm256_mulhi_epu16(words, _mm256_set1_epi16(kReciprocals[(N - 1) & 3]));
  }
  template <int N>
  static __m256i first_digits_of_bytes(__m256i bytes) {
    if constexpr (N == 0 || N == 5) return N == 0 ? _mm256_setzero_si256() : bytes;
    const __m256i even = first_digits<N>(_mm256_and_si256(bytes, _mm256_set1_epi16(255)));
    return _mm256_or_si256(even, _mm256_slli_epi16(first_digits<N>(_mm256_srli_epi16(bytes, 8)), 8));
  }
  template <int S>
  static __m256i number_digit_of(__m256i x) {
    const __m256i before = first_digits_of_bytes<S>(x);
    return _mm256_sub_epi8(first_digits_of_bytes<S + 1>(x), _mm256_add_epi8(before, _mm256_add_epi8(before, before)));
  }
  // Digit S of the five in each byte, the first the most significant.
  template <int S>
  static Bytes number_digit(Bytes x) {
    return {number_digit_of<S>(x.a), number_digit_of<S>(x.b)};
  }

  template <int J>
  static Ints byte(Bytes x) {
    const __m256i mask = _mm256_set1_epi32(255);
    return {_mm256_and_si256(_mm256_srli_epi32(x.a, 8 * J), mask),
            _mm256_and_si256(_mm256_srli_epi32(x.b, 8 * J), mask)};
  }
  template <int J>
  static Ints signed_byte(Bytes x) {
    return {_mm256_srai_epi32(_mm256_slli_epi32(x.a, 24 - 8 * J), 24),
            _mm256_srai_epi32(_mm256_slli_epi32(x.b, 24 - 8 * J), 24)};
  }
  static Ints ints(int value) { return {_mm256_set1_epi32(value), _mm256_set1_epi32(value)}; }
  static Ints words(const uint8_t* p) { return {_mm256_loadu_si256(pointer(p)), _mm256_loadu_si256(pointer(p + 32))}; }
  static __m128i eight16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static Ints words16(const uint8_t* p) {
    return {_mm256_cvtepu16_epi32(eight16(p)), _mm256_cvtepu16_epi32(eight16(p + 16))};
  }
  static Ints add(Ints x, Ints y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
  static Ints multiply_add(Ints x, Ints y, Ints z) {
    return add({_mm256_mullo_epi32(x.a, y.a), _mm256_mullo_epi32(x.b, y.b)}, z);
  }
  static Ints and_ints(Ints x, int mask) {
    return {_mm256_and_si256(x.a, _mm256_set1_epi32(mask)), _mm256_and_si256(x.b, _mm256_set1_epi32(mask))};
  }
  template <int N>
  static Ints shift_right(Ints x) {
    return {_mm256_srli_epi32(x.a, N), _mm256_srli_epi32(x.b, N)};
  }
  template <int N>
  static Ints shift_left(Ints x) {
    return {_mm256_slli_epi32(x.a, N), _mm256_slli_epi32(x.b, N)};
  }

  static Floats to_float(Ints x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
  static Floats set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Floats load_floats(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static void store(float* p, Floats x) {
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
  }
  static Floats halves(const void* p) {
    const auto* q = static_cast<const uint8_t*>(p);
    return {_mm256_cvtph_ps(eight16(q)), _mm256_cvtph_ps(eight16(q + 16))};
  }
  static Floats bfloats(const void* p) {
    const auto w = words16(static_cast<const uint8_t*>(p));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(w.a, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(w.b, 16))};
  }
  static __m256 half_powers8(const uint8_t* p) {
    const __m256i e = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
    return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, subnormal, _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e)));
  }
  static Floats half_powers(const uint8_t* p) { return {half_powers8(p), half_powers8(p + 8)}; }
  static void store_halves(void* p, Floats x) {
    auto* q = static_cast<__m128i*>(p);
    _mm_storeu_si128(q, _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    _mm_storeu_si128(q + 1, _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Floats add(Floats x, Floats y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
  static Floats sub(Floats x, Floats y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
  static Floats mul(Floats x, Floats y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
  static Floats div(Floats x, Floats y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
  static Floats max(Floats x, Floats y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
  static Floats min(Floats x, Floats y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
  static Floats abs(Floats x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
  }
  static Floats negate(Floats x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_xor_ps(x.a, sign), _mm256_xor_ps(x.b, sign)};
  }
  static Floats fma(Floats x, Floats y, Floats z) {
    return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
  }
  static Floats fnma(Floats x, Floats y, Floats z) {
    return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)};
  }
  static Floats round(Floats x) {
    constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    return {_mm256_round_ps(x.a, kMode), _mm256_round_ps(x.b, kMode)};
  }
  static __m256 scale2_8(__m256 x, __m256 n) {
    const __m256i exponent = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(x, _mm256_castsi256_ps(exponent));
  }
  static Floats scale2(Floats x, Floats n) { return {scale2_8(x.a, n.a), scale2_8(x.b, n.b)}; }
  static float sum(Floats x) {
    const __m256 b = _mm256_add_ps(x.a, x.b);
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
  }
  static float largest(Floats x) {
    const __m256 b = _mm256_max_ps(x.a, x.b);
    __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_max_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
  }
  static void store_int8(int8_t* p, Floats x) {
    const __m256i w = _mm256_packs_epi32(_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b));  // 0-3 8-11 4-7 12-15
    const __m256i ordered = _mm256_permute4x64_epi64(w, 0xd8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
  }

  using Four = __m256i;
  static Four four(const int8_t* q) {
    int32_t x;
    __builtin_memcpy(&x, q, 4);
    return _mm256_set1_epi32(x);
  }

  // See linear_telescoped-inl.hpp. Each word holds one byte of a vector's lanes: bytes 0 and 2, then 1 and 3.
  struct Telescoped {
    Ints even{_mm256_setzero_si256(), _mm256_setzero_si256()}, odd = even;
    [[gnu::always_inline]] void step(const uint8_t* vector, const int32_t* pairs) {
      const Bytes v = load(vector);
      half(v.a, pairs, even.a, odd.a, std::make_integer_sequence<int, 5>());
      half(v.b, pairs, even.b, odd.b, std::make_integer_sequence<int, 5>());
    }
    template <int... N>
    [[gnu::always_inline]] static void half(__m256i v, const int32_t* pairs, __m256i& even, __m256i& odd,
                                            std::integer_sequence<int, N...>) {
      const __m256i first = _mm256_and_si256(v, _mm256_set1_epi16(255)), second = _mm256_srli_epi16(v, 8);
      ((add<N + 1>(even, first, pairs[2 * N]), add<N + 1>(odd, second, pairs[2 * N + 1])), ...);
    }
    template <int N>
    [[gnu::always_inline]] static void add(__m256i& sum, __m256i words, int32_t pair) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(first_digits<N>(words), _mm256_set1_epi32(pair)));
      __asm__("" : "+x"(sum));  // one after the other: g++ would hold ten products, and spill them
    }
    Ints total() const { return VectorAvx2::add(even, odd); }
  };
  // 20 columns of x, and of the 4 columns after each, to the coefficients of a vector: c = x - 3 (x 4 columns on), but
  // for the last four c = x. Columns from `count` on are taken as 0.
  static void telescope(const int8_t* x, int count, int32_t* pairs) {
    const auto load16 = [](const int8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
    const __m128i first = load16(x), next = count >= 20 ? load16(x + 4) : _mm_srli_si128(first, 4);
    const __m256i y = _mm256_cvtepi8_epi16(next);
    const __m256i c = _mm256_sub_epi16(_mm256_cvtepi8_epi16(first), _mm256_add_epi16(y, _mm256_add_epi16(y, y)));
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0, 1, 4, 5, 2, 3, 6, 7,
                                           8, 9, 12, 13, 10, 11, 14, 15);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(pairs), _mm256_shuffle_epi8(c, order));
    const __m128i last = _mm256_extracti128_si256(y, 1);  // columns 12 to 19
    _mm_storel_epi64(reinterpret_cast<__m128i*>(pairs + 8),
                     _mm_shuffle_epi8(_mm_unpackhi_epi64(last, last), _mm256_castsi256_si128(order)));
  }

  template <int kMaxCode>
  struct Partial {
    // How many steps a 16-bit lane holds; codes above 127 are widened at once.
    static constexpr int kSteps = kMaxCode > 127 ? 1 : kStepsIn16Bits<kMaxCode>;
    __m256i a, b, a16, b16;
    int held;
    void clear() {
      a = b = a16 = b16 = _mm256_setzero_si256();
      held = 0;
    }
    void start(const int32_t* value) {
      a = b = _mm256_set1_epi32(*value);
      a16 = b16 = _mm256_setzero_si256();
      held = 0;
    }
    template <int N>
    void divide_start() {
      a = b = _mm256_srai_epi32(a, N);
    }
    void widen() {
      const __m256i one = _mm256_set1_epi16(1);
      a = _mm256_add_epi32(a, _mm256_madd_epi16(a16, one));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(b16, one));
      a16 = b16 = _mm256_setzero_si256();
      held = 0;
    }
    void step(Bytes codes, const int8_t* q) { step(codes, four(q)); }
    void step(Bytes codes, Four x) {
      if constexpr (kMaxCode > 127) {
        const __m256i flip = _mm256_set1_epi8(char(0x80)), one = _mm256_set1_epi16(1);
        const __m256i u = _mm256_xor_si256(codes.a, flip), v = _mm256_xor_si256(codes.b, flip);
        a = _mm256_add_epi32(a,
                             _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(u), _mm256_sign_epi8(x, u)), one));
        b = _mm256_add_epi32(b,
                             _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(v), _mm256_sign_epi8(x, v)), one));
      } else {
        a16 = _mm256_add_epi16(a16, _mm256_maddubs_epi16(codes.a, x));
        b16 = _mm256_add_epi16(b16, _mm256_maddubs_epi16(codes.b, x));
        if (++held == kSteps) widen();
      }
    }
    Ints total() {
      if constexpr (kMaxCode <= 127)
        if (held) widen();
      return {a, b};
    }
  };
  // The line at `near` bytes ahead into L1, the one four times as far into L2. Not the intrinsic: g++ moves those
  // together, and takes a function that only prefetches for one without effect and drops calls to it.
  [[gnu::always_inline]] static void prefetch(const uint8_t* p, int near) {
    __asm__ volatile("prefetcht0 %0" : : "m"(p[near]));
    __asm__ volatile("prefetcht1 %0" : : "m"(p[4 * near]));
  }
};

}  // namespace soffit::cpu

// NEON (Armv8.0), with or without the dot product instructions (Armv8.2): four registers hold 16 rows, rows 0-3 in the
// first. Codes above 127 are taken as signed, code - 128.
#pragma once

#include <arm_neon.h>

#include "cpu/vector_common.hpp"

namespace soffit::cpu {

template <bool kDotProduct>
struct VectorNeon : TransposeInMemory<VectorNeon<kDotProduct>> {
  static constexpr const char* kName = kDotProduct ? "neon_dotprod" : "neon";
  static constexpr bool kSignedCodes = true, kRawCodes = false, kTernaryTables = true;
  static constexpr int kUnrolledTokens = 0;
  static constexpr int kColumns = 4, kPanelTiles = 1, kPanelColumns = 4, kFloatPanelColumns = 6;

  struct Bytes {
    uint8x16_t v[4];
  };
  struct Ints {
    int32x4_t v[4];
  };
  struct Floats {
    float32x4_t v[4];
  };

  template <class R, class F>
  [[gnu::always_inline]] static R make(F f) {
    return {{f(0), f(1), f(2), f(3)}};
  }

  static Bytes load(const uint8_t* p) {
    return make<Bytes>([&](int i) { return vld1q_u8(p + 16 * i); });
  }
  static void store_bytes(uint8_t* p, const Bytes& x) {
    for (int i = 0; i < 4; ++i) vst1q_u8(p + 16 * i, x.v[i]);
  }
  template <int kMask>
  static Bytes and_(const Bytes& x) {
    return make<Bytes>([&](int i) { return vandq_u8(x.v[i], vdupq_n_u8(uint8_t(kMask))); });
  }
  static Bytes or_(const Bytes& x, const Bytes& y) {
    return make<Bytes>([&](int i) { return vorrq_u8(x.v[i], y.v[i]); });
  }
  template <int kMask>
  static Bytes merge(const Bytes& x, const Bytes& high) {
    return or_(and_<kMask>(x), high);
  }
  template <int kFrom, int kTo, int kCount>
  static Bytes move_bits(const Bytes& x) {
    constexpr int kMask = ((1 << kCount) - 1) << kTo;
    if constexpr (kFrom >= kTo)
      return and_<kMask>(shr<kFrom - kTo>(x));
    else
      return and_<kMask>(shl<kTo - kFrom>(x));
  }
  template <int N>
  static Bytes shr(const Bytes& x) {
    if constexpr (N == 0)
      return x;
    else
      return make<Bytes>([&](int i) { return vshrq_n_u8(x.v[i], N); });
  }
  template <int N>
  static Bytes shl(const Bytes& x) {
    return make<Bytes>([&](int i) { return vshlq_n_u8(x.v[i], N); });
  }
  static Bytes lookup(const Bytes& index, const uint8_t* table) {
    const uint8x16_t t = vld1q_u8(table);
    return make<Bytes>([&](int i) { return vqtbl1q_u8(t, vandq_u8(index.v[i], vdupq_n_u8(15))); });
  }
  // Digit S of the five in each byte (see ternary_code).
  template <int S>
  static Bytes digit(const Bytes& x) {
    const auto table = [](const uint8_t* t) {
      return uint8x16x4_t{{vld1q_u8(t), vld1q_u8(t + 16), vld1q_u8(t + 32), vld1q_u8(t + 48)}};
    };
    return make<Bytes>([&](int i) {
      const uint8x16_t index = vandq_u8(x.v[i], vdupq_n_u8(63));
      if constexpr (S == 4) return vqtbl4q_u8(table(kTernary.last), index);
      const uint8x16_t large = vcgeq_u8(x.v[i], vdupq_n_u8(0xC0));
      const uint8x16_t u =
          vbslq_u8(large, vqtbl4q_u8(table(kTernary.large), index), vqtbl4q_u8(table(kTernary.small), index));
      const uint8x16_t digits = S == 3 ? veorq_u8(u, x.v[i]) : u;
      if constexpr (S == 0)
        return vandq_u8(digits, vdupq_n_u8(3));
      else
        return vandq_u8(vshrq_n_u8(digits, S == 0 ? 1 : 2 * S), vdupq_n_u8(3));
    });
  }

  template <int J>
  static Ints byte(const Bytes& x) {
    return make<Ints>([&](int i) {
      const uint32x4_t w = vreinterpretq_u32_u8(x.v[i]);
      if constexpr (J == 0)
        return vreinterpretq_s32_u32(vandq_u32(w, vdupq_n_u32(255)));
      else
        return vreinterpretq_s32_u32(vandq_u32(vshrq_n_u32(w, J == 0 ? 1 : 8 * J), vdupq_n_u32(255)));
    });
  }
  template <int J>
  static Ints signed_byte(const Bytes& x) {
    return make<Ints>([&](int i) { return vshrq_n_s32(vshlq_n_s32(vreinterpretq_s32_u8(x.v[i]), 24 - 8 * J), 24); });
  }
  static Ints ints(int value) {
    return make<Ints>([&](int) { return vdupq_n_s32(value); });
  }
  static Ints words(const uint8_t* p) {
    return make<Ints>([&](int i) { return vreinterpretq_s32_u8(vld1q_u8(p + 16 * i)); });
  }
  static Ints words16(const uint8_t* p) {
    return make<Ints>([&](int i) { return vreinterpretq_s32_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8(p + 8 * i)))); });
  }
  static Ints add(const Ints& x, const Ints& y) {
    return make<Ints>([&](int i) { return vaddq_s32(x.v[i], y.v[i]); });
  }
  static Ints multiply_add(const Ints& x, const Ints& y, const Ints& z) {
    return make<Ints>([&](int i) { return vmlaq_s32(z.v[i], x.v[i], y.v[i]); });
  }
  static Ints and_ints(const Ints& x, int mask) {
    return make<Ints>([&](int i) { return vandq_s32(x.v[i], vdupq_n_s32(mask)); });
  }
  template <int N>
  static Ints shift_right(const Ints& x) {
    if constexpr (N == 0)
      return x;
    else
      return make<Ints>([&](int i) { return vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(x.v[i]), N)); });
  }
  template <int N>
  static Ints shift_left(const Ints& x) {
    return make<Ints>([&](int i) { return vshlq_n_s32(x.v[i], N); });
  }

  static Floats to_float(const Ints& x) {
    return make<Floats>([&](int i) { return vcvtq_f32_s32(x.v[i]); });
  }
  static Floats set(float x) {
    return make<Floats>([&](int) { return vdupq_n_f32(x); });
  }
  static Floats load_floats(const float* p) {
    return make<Floats>([&](int i) { return vld1q_f32(p + 4 * i); });
  }
  static void store(float* p, const Floats& x) {
    for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, x.v[i]);
  }
  static Floats halves(const void* p) {
    const auto* bytes = static_cast<const uint8_t*>(p);
    return make<Floats>([&](int i) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(bytes + 8 * i))); });
  }
  static Floats bfloats(const void* p) {
    const auto w = words16(static_cast<const uint8_t*>(p));
    return make<Floats>([&](int i) { return vreinterpretq_f32_s32(vshlq_n_s32(w.v[i], 16)); });
  }
  static Floats half_powers(const uint8_t* p) {
    const uint8x16_t bytes = vld1q_u8(p);
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_u8(vget_high_u8(bytes));
    const uint32x4_t e[4] = {vmovl_u16(vget_low_u16(low)), vmovl_u16(vget_high_u16(low)), vmovl_u16(vget_low_u16(high)),
                             vmovl_u16(vget_high_u16(high))};
    return make<Floats>([&](int i) {
      const uint32x4_t normal = vshlq_n_u32(vsubq_u32(e[i], vdupq_n_u32(1)), 23);
      const uint32x4_t subnormal = vshlq_u32(vdupq_n_u32(0x00200000), vreinterpretq_s32_u32(e[i]));
      return vreinterpretq_f32_u32(vbslq_u32(vcltq_u32(e[i], vdupq_n_u32(2)), subnormal, normal));
    });
  }
  static void store_halves(void* p, const Floats& x) {
    auto* bytes = static_cast<uint8_t*>(p);
    for (int i = 0; i < 4; ++i) vst1_u8(bytes + 8 * i, vreinterpret_u8_f16(vcvt_f16_f32(x.v[i])));
  }
  static Floats add(const Floats& x, const Floats& y) {
    return make<Floats>([&](int i) { return vaddq_f32(x.v[i], y.v[i]); });
  }
  static Floats sub(const Floats& x, const Floats& y) {
    return make<Floats>([&](int i) { return vsubq_f32(x.v[i], y.v[i]); });
  }
  static Floats mul(const Floats& x, const Floats& y) {
    return make<Floats>([&](int i) { return vmulq_f32(x.v[i], y.v[i]); });
  }
  static Floats div(const Floats& x, const Floats& y) {
    return make<Floats>([&](int i) { return vdivq_f32(x.v[i], y.v[i]); });
  }
  // A NaN in x gives y, as on x86: a > b ? a : b.
  static Floats max(const Floats& x, const Floats& y) {
    return make<Floats>([&](int i) { return vbslq_f32(vcgtq_f32(x.v[i], y.v[i]), x.v[i], y.v[i]); });
  }
  static Floats min(const Floats& x, const Floats& y) {
    return make<Floats>([&](int i) { return vbslq_f32(vcltq_f32(x.v[i], y.v[i]), x.v[i], y.v[i]); });
  }
  static Floats abs(const Floats& x) {
    return make<Floats>([&](int i) { return vabsq_f32(x.v[i]); });
  }
  static Floats negate(const Floats& x) {
    return make<Floats>([&](int i) { return vnegq_f32(x.v[i]); });
  }
  static Floats fma(const Floats& x, const Floats& y, const Floats& z) {
    return make<Floats>([&](int i) { return vfmaq_f32(z.v[i], x.v[i], y.v[i]); });
  }
  static Floats fnma(const Floats& x, const Floats& y, const Floats& z) {
    return make<Floats>([&](int i) { return vfmsq_f32(z.v[i], x.v[i], y.v[i]); });
  }
  static Floats round(const Floats& x) {
    return make<Floats>([&](int i) { return vrndnq_f32(x.v[i]); });
  }
  static Floats scale2(const Floats& x, const Floats& n) {
    return make<Floats>([&](int i) {
      const int32x4_t exponent = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n.v[i]), vdupq_n_s32(127)), 23);
      return vmulq_f32(x.v[i], vreinterpretq_f32_s32(exponent));
    });
  }
  // Halves are added until one is left, as everywhere.
  static float sum(const Floats& x) {
    const float32x4_t four = vaddq_f32(vaddq_f32(x.v[0], x.v[2]), vaddq_f32(x.v[1], x.v[3]));
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }
  static float largest(const Floats& x) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(x.v[0], x.v[1]), vmaxq_f32(x.v[2], x.v[3])));
  }
  static void store_int8(int8_t* p, const Floats& x) {
    const auto narrow = [&](int i) { return vmovn_s32(vcvtnq_s32_f32(x.v[i])); };
    vst1q_s8(p,
             vcombine_s8(vmovn_s16(vcombine_s16(narrow(0), narrow(1))), vmovn_s16(vcombine_s16(narrow(2), narrow(3)))));
  }

  using Four = int8x16_t;
  static Four four(const int8_t* q) {
    int32_t x;
    __builtin_memcpy(&x, q, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(x));
  }

  template <int kMaxCode>
  struct Partial {
    int32x4_t sum[4];
    void clear() {
      for (auto& s : sum) s = vdupq_n_s32(0);
    }
    void start(const int32_t* value) {
      for (auto& s : sum) s = vdupq_n_s32(*value);
    }
    // Directly after start(): divides by 2^N, without a remainder.
    template <int N>
    void divide_start() {
      for (auto& s : sum) s = vshrq_n_s32(s, N);
    }
    void step(const Bytes& codes, const int8_t* q) { step(codes, four(q)); }
    void step(const Bytes& codes, Four x) {
      for (int i = 0; i < 4; ++i) {
        const uint8x16_t u = kMaxCode > 127 ? veorq_u8(codes.v[i], vdupq_n_u8(0x80)) : codes.v[i];
        sum[i] = dot(sum[i], vreinterpretq_s8_u8(u), x);
      }
    }
    Ints total() const { return {{sum[0], sum[1], sum[2], sum[3]}}; }

    static int32x4_t dot(int32x4_t sum, int8x16_t w, int8x16_t x) {
#if defined(__ARM_FEATURE_DOTPROD)
      if constexpr (kDotProduct) return vdotq_s32(sum, w, x);
#endif
      // Products of neighbours are added in pairs, then pairs of pairs: |w| <= 128, |q| <= 127, so a pair fits 16 bits
      // but for -128 * -127 twice, which widening before the first addition avoids.
      const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x)), high = vmull_s8(vget_high_s8(w), vget_high_s8(x));
      return vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
    }
  };
  [[gnu::always_inline]] static void prefetch(const uint8_t* p, int near) { __builtin_prefetch(p + near, 0, 3); }
};

}  // namespace soffit::cpu

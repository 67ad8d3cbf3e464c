// Plain C++: any processor, and the yardstick for the others.
#pragma once

#include <cmath>
#include <cstring>

#include "core/half.hpp"
#include "cpu/vector_common.hpp"
#include "formats/mxfp4.hpp"

namespace soffit::cpu {

struct VectorScalar : TransposeInMemory<VectorScalar> {
  static constexpr const char* kName = "scalar";
  static constexpr bool kSignedCodes = false, kRawCodes = false, kTernaryTables = true;
  static constexpr int kUnrolledTokens = 0;
  static constexpr int kColumns = 1, kPanelTiles = 1, kPanelColumns = 1, kFloatPanelColumns = 1;

  struct Bytes {
    uint8_t v[64];
  };
  struct Ints {
    int32_t v[16];
  };
  struct Floats {
    float v[16];
  };

  template <class R, class F>
  static R make(F f) {
    R r;
    for (int i = 0; i < int(sizeof(r.v) / sizeof(r.v[0])); ++i) r.v[i] = f(i);
    return r;
  }

  static Bytes load(const uint8_t* p) {
    return make<Bytes>([&](int i) { return p[i]; });
  }
  static void store_bytes(uint8_t* p, const Bytes& b) { std::memcpy(p, b.v, 64); }
  template <int kMask>
  static Bytes and_(const Bytes& a) {
    return make<Bytes>([&](int i) { return uint8_t(a.v[i] & kMask); });
  }
  static Bytes or_(const Bytes& a, const Bytes& b) {
    return make<Bytes>([&](int i) { return uint8_t(a.v[i] | b.v[i]); });
  }
  template <int kMask>
  static Bytes merge(const Bytes& a, const Bytes& high) {
    return make<Bytes>([&](int i) { return uint8_t((a.v[i] & kMask) | high.v[i]); });
  }
  template <int kFrom, int kTo, int kCount>
  static Bytes move_bits(const Bytes& a) {
    return make<Bytes>([&](int i) { return uint8_t((a.v[i] >> kFrom & ((1 << kCount) - 1)) << kTo); });
  }
  // Bits that cross a byte are for the caller to mask.
  template <int N>
  static Bytes shr(const Bytes& a) {
    return make<Bytes>([&](int i) { return uint8_t(a.v[i] >> N); });
  }
  template <int N>
  static Bytes shl(const Bytes& a) {
    return make<Bytes>([&](int i) { return uint8_t(a.v[i] << N); });
  }
  static Bytes lookup(const Bytes& index, const uint8_t* table) {
    return make<Bytes>([&](int i) { return table[index.v[i] & 15]; });
  }
  // Digit S of the five in each byte (see ternary_code).
  template <int S>
  static Bytes digit(const Bytes& a) {
    return make<Bytes>([&](int i) {
      const uint8_t byte = a.v[i], index = byte & 63;
      if (S == 4) return kTernary.last[index];
      const int digits = (byte >= 0xC0 ? kTernary.large : kTernary.small)[index] ^ (byte & 0xC0);
      return uint8_t(digits >> 2 * S & 3);
    });
  }

  template <int J>
  static Ints byte(const Bytes& a) {
    return make<Ints>([&](int i) { return int32_t(a.v[4 * i + J]); });
  }
  template <int J>
  static Ints signed_byte(const Bytes& a) {
    return make<Ints>([&](int i) { return int32_t(int8_t(a.v[4 * i + J])); });
  }
  static Ints ints(int value) {
    return make<Ints>([&](int) { return value; });
  }
  static Ints words(const uint8_t* p) {
    Ints r;
    std::memcpy(r.v, p, 64);
    return r;
  }
  static Ints words16(const uint8_t* p) {
    uint16_t h[16];
    std::memcpy(h, p, 32);
    return make<Ints>([&](int i) { return int32_t(h[i]); });
  }
  static Ints add(const Ints& a, const Ints& b) {
    return make<Ints>([&](int i) { return a.v[i] + b.v[i]; });
  }
  static Ints multiply_add(const Ints& a, const Ints& b, const Ints& c) {
    return make<Ints>([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
  }
  template <int N>
  static Ints shift_right_signed(const Ints& a) {
    return make<Ints>([&](int i) { return a.v[i] >> N; });
  }
  static Ints and_ints(const Ints& a, int mask) {
    return make<Ints>([&](int i) { return a.v[i] & mask; });
  }
  template <int N>
  static Ints shift_right(const Ints& a) {
    return make<Ints>([&](int i) { return int32_t(uint32_t(a.v[i]) >> N); });
  }
  template <int N>
  static Ints shift_left(const Ints& a) {
    return make<Ints>([&](int i) { return int32_t(uint32_t(a.v[i]) << N); });
  }

  static Floats to_float(const Ints& a) {
    return make<Floats>([&](int i) { return float(a.v[i]); });
  }
  static Floats set(float x) {
    return make<Floats>([&](int) { return x; });
  }
  static Floats load_floats(const float* p) {
    return make<Floats>([&](int i) { return p[i]; });
  }
  static void store(float* p, const Floats& a) { std::memcpy(p, a.v, 64); }
  static Floats halves(const void* p) {
    uint16_t h[16];
    std::memcpy(h, p, 32);
    return make<Floats>([&](int i) { return half_to_float(h[i]); });
  }
  static Floats bfloats(const void* p) {
    uint16_t h[16];
    std::memcpy(h, p, 32);
    return make<Floats>([&](int i) { return bfloat_to_float(h[i]); });
  }
  // 2^(e - 128) of 16 bytes e.
  static Floats half_powers(const uint8_t* p) {
    return make<Floats>([&](int i) { return MXFP4::half_scale(p[i]); });
  }
  static void store_halves(void* p, const Floats& a) {
    uint16_t h[16];
    for (int i = 0; i < 16; ++i) h[i] = float_to_half(a.v[i]);
    std::memcpy(p, h, 32);
  }
  static Floats add(const Floats& a, const Floats& b) {
    return make<Floats>([&](int i) { return a.v[i] + b.v[i]; });
  }
  static Floats sub(const Floats& a, const Floats& b) {
    return make<Floats>([&](int i) { return a.v[i] - b.v[i]; });
  }
  static Floats mul(const Floats& a, const Floats& b) {
    return make<Floats>([&](int i) { return a.v[i] * b.v[i]; });
  }
  static Floats div(const Floats& a, const Floats& b) {
    return make<Floats>([&](int i) { return a.v[i] / b.v[i]; });
  }
  static Floats max(const Floats& a, const Floats& b) {
    return make<Floats>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  static Floats min(const Floats& a, const Floats& b) {
    return make<Floats>([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
  }
  static Floats abs(const Floats& a) {
    return make<Floats>([&](int i) { return std::fabs(a.v[i]); });
  }
  static Floats negate(const Floats& a) {
    return make<Floats>([&](int i) { return -a.v[i]; });
  }
  // Without fused instructions a product is rounded before it is added.
  static Floats fma(const Floats& a, const Floats& b, const Floats& c) {
    return make<Floats>([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
  }
  static Floats fnma(const Floats& a, const Floats& b, const Floats& c) {
    return make<Floats>([&](int i) { return c.v[i] - a.v[i] * b.v[i]; });
  }
  static Floats round(const Floats& a) {
    return make<Floats>([&](int i) { return std::nearbyint(a.v[i]); });
  }
  // a * 2^n for whole n in [-126, 127], infinite for 128, NaN where a is.
  static Floats scale2(const Floats& a, const Floats& n) {
    return make<Floats>([&](int i) {
      if (!(n.v[i] == n.v[i])) return a.v[i];
      return a.v[i] * std::bit_cast<float>(uint32_t(int(n.v[i]) + 127) << 23);
    });
  }
  static float sum(const Floats& a) {
    float t[8];
    for (int i = 0; i < 8; ++i) t[i] = a.v[i] + a.v[i + 8];
    for (int n = 4; n; n /= 2)
      for (int i = 0; i < n; ++i) t[i] += t[i + n];
    return t[0];
  }
  static float largest(const Floats& a) {
    float m = a.v[0];
    for (int i = 1; i < 16; ++i) m = a.v[i] > m ? a.v[i] : m;
    return m;
  }
  // Rounds to nearest even and saturates nothing: |a| <= 127.
  static void store_int8(int8_t* p, const Floats& a) {
    for (int i = 0; i < 16; ++i) p[i] = int8_t(std::nearbyint(a.v[i]));
  }

  using Four = const int8_t*;
  static Four four(const int8_t* q) { return q; }

  template <int kMaxCode>
  struct Partial {
    Ints sum;
    void clear() { sum = ints(0); }
    void start(const int32_t* value) { sum = ints(*value); }
    template <int N>
    void divide_start() {
      for (int32_t& v : sum.v) v >>= N;
    }
    void step(const Bytes& codes, const int8_t* q) {
      for (int i = 0; i < 16; ++i)
        for (int c = 0; c < 4; ++c) sum.v[i] += int32_t(codes.v[4 * i + c]) * q[c];
    }
    Ints total() const { return sum; }
  };
  static void prefetch(const uint8_t*, int) {}
};

}  // namespace soffit::cpu

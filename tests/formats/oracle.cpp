#include "oracle.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace oracle {

using soffit::Format;

namespace {

// An IEEE number of the given field widths.
double small_float(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = int(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = int(bits) & ((1 << mantissa_bits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

uint16_t word(const uint8_t* p) { return uint16_t(p[0] | p[1] << 8); }
double half_at(const uint8_t* p) { return half(word(p)); }

constexpr double kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr double kE2m1[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};

int split_half(const uint8_t* qs, int i) { return i < 16 ? qs[i] % 16 : qs[i - 16] / 16; }
int bit(const uint8_t* p, int i) { return p[i / 8] >> (i % 8) & 1; }
int crumb(const uint8_t* qs, int i) { return qs[32 * (i / 128) + i % 32] >> 2 * ((i / 32) % 4) & 3; }

Element with_minimum(const uint8_t* b, const uint8_t* s, int j, int code) {
  int scale, minimum;
  if (j < 4) {
    scale = s[j] & 63;
    minimum = s[j + 4] & 63;
  } else {
    scale = (s[j + 4] & 15) + 16 * (s[j - 4] >> 6);
    minimum = (s[j + 4] >> 4) + 16 * (s[j] >> 6);
  }
  return {code, scale, minimum, half_at(b) * scale * code - half_at(b + 2) * minimum};
}

// Digit n of byte b: with F(k) = floor(3^k b / 256), it is F(n+1) - 3 F(n).
int ternary_digit(int b, int n) {
  int power = 1;
  for (int k = 0; k < n; ++k) power *= 3;
  return 3 * power * b / 256 - 3 * (power * b / 256);
}

int ternary_code(const uint8_t* b, int i) {
  if (i < 160) return ternary_digit(b[i % 32], i / 32);
  if (i < 240) return ternary_digit(b[32 + (i - 160) % 16], (i - 160) / 16);
  return ternary_digit(b[48 + (i - 240) % 4], (i - 240) / 4);
}

}  // namespace

double half(uint16_t bits) { return small_float(bits, 5, 10); }
double bfloat(uint16_t bits) { return small_float(bits, 8, 7); }

Element element(Format format, const uint8_t* b, int i) {
  switch (format) {
    case Format::f32: {
      uint32_t bits;
      std::memcpy(&bits, b, 4);
      return {.code = 0, .value = small_float(bits, 8, 23)};
    }
    case Format::f16:
      return {.code = 0, .value = half_at(b)};
    case Format::bf16:
      return {.code = 0, .value = bfloat(word(b))};
    case Format::q4_0: {
      const int n = split_half(b + 2, i);
      return {.code = n, .value = (n - 8) * half_at(b)};
    }
    case Format::q4_1: {
      const int n = split_half(b + 4, i);
      return {.code = n, .value = n * half_at(b) + half_at(b + 2)};
    }
    case Format::q5_0: {
      const int n = split_half(b + 6, i) + 16 * bit(b + 2, i);
      return {.code = n, .value = (n - 16) * half_at(b)};
    }
    case Format::q5_1: {
      const int n = split_half(b + 8, i) + 16 * bit(b + 4, i);
      return {.code = n, .value = n * half_at(b) + half_at(b + 2)};
    }
    case Format::q8_0:
      return {.code = b[2 + i], .value = (b[2 + i] < 128 ? b[2 + i] : b[2 + i] - 256) * half_at(b)};
    case Format::q2_k: {
      const int v = crumb(b + 16, i), scale = b[i / 16] % 16, minimum = b[i / 16] / 16;
      return {v, scale, minimum, half_at(b + 80) * scale * v - half_at(b + 82) * minimum};
    }
    case Format::q3_k: {
      const int v = crumb(b + 32, i), set = b[i % 32] >> (i / 32) & 1, g = i / 16;
      const uint8_t* s = b + 96;
      const int low = g < 8 ? s[g] % 16 : s[g - 8] / 16, high = s[8 + g % 4] >> 2 * (g / 4) & 3;
      const int stored = low + 16 * high;
      return {.code = v + 4 * set, .scale = stored, .value = half_at(b + 108) * (stored - 32) * (set ? v : v - 4)};
    }
    case Format::q4_k: {
      const int j = i / 32, byte = b[16 + 32 * (i / 64) + i % 32];
      return with_minimum(b, b + 4, j, j % 2 ? byte / 16 : byte % 16);
    }
    case Format::q5_k: {
      const int j = i / 32, byte = b[48 + 32 * (i / 64) + i % 32];
      return with_minimum(b, b + 4, j, (j % 2 ? byte / 16 : byte % 16) + 16 * (b[16 + i % 32] >> j & 1));
    }
    case Format::q6_k: {
      const int h = i / 128, k = i % 128 / 32, l = i % 32;
      const int byte = b[64 * h + l + 32 * (k & 1)], low = k < 2 ? byte % 16 : byte / 16;
      const int code = low + 16 * (b[128 + 32 * h + l] >> 2 * k & 3), stored = b[192 + i / 16];
      const int scale = stored < 128 ? stored : stored - 256;
      return {.code = code, .scale = stored, .value = half_at(b + 208) * scale * (code - 32)};
    }
    case Format::iq4_nl: {
      const int n = split_half(b + 2, i);
      return {.code = n, .value = half_at(b) * kUneven[n]};
    }
    case Format::iq4_xs: {
      const int g = i / 32, n = split_half(b + 8 + 16 * g, i % 32);
      const int stored = (b[4 + g / 2] >> 4 * (g % 2) & 15) + 16 * (word(b + 2) >> 2 * g & 3);
      return {.code = n, .scale = stored, .value = half_at(b) * (stored - 32) * kUneven[n]};
    }
    case Format::mxfp4: {
      const int n = split_half(b + 1, i);
      return {.code = n, .value = kE2m1[n] * std::ldexp(1.0, b[0] - 127)};
    }
    case Format::tq1_0: {
      const int digit = ternary_code(b, i);
      return {.code = digit, .value = (digit - 1) * half_at(b + 52)};
    }
    case Format::tq2_0: {
      const int v = crumb(b, i);
      return {.code = v, .value = (v - 1) * half_at(b + 64)};
    }
  }
  return {.code = -1, .value = std::numeric_limits<double>::quiet_NaN()};
}

Shape shape(Format format) {
  switch (format) {
    case Format::f32:
    case Format::f16:
    case Format::bf16:
      return {1, 1, 1, 1};
    case Format::q4_0:
    case Format::q4_1:
    case Format::iq4_nl:
    case Format::mxfp4:
      return {16, 1, 1, 32};
    case Format::q5_0:
    case Format::q5_1:
      return {32, 1, 1, 32};
    case Format::q8_0:
      return {256, 1, 1, 32};
    case Format::q2_k:
      return {4, 16, 16, 16};
    case Format::q3_k:
      return {8, 64, 1, 16};
    case Format::q4_k:
      return {16, 64, 64, 32};
    case Format::q5_k:
      return {32, 64, 64, 32};
    case Format::q6_k:
      return {64, 256, 1, 16};
    case Format::iq4_xs:
      return {16, 64, 1, 32};
    case Format::tq1_0:
      return {3, 1, 1, 256};
    case Format::tq2_0:
      return {4, 1, 1, 256};
  }
  return {};
}

std::vector<int> half_fields(Format format) {
  switch (format) {
    case Format::f32:
    case Format::bf16:
    case Format::mxfp4:
      return {};
    case Format::f16:
    case Format::q4_0:
    case Format::q5_0:
    case Format::q8_0:
    case Format::iq4_nl:
    case Format::iq4_xs:
      return {0};
    case Format::q4_1:
    case Format::q5_1:
    case Format::q4_k:
    case Format::q5_k:
      return {0, 2};
    case Format::q2_k:
      return {80, 82};
    case Format::q3_k:
      return {108};
    case Format::q6_k:
      return {208};
    case Format::tq1_0:
      return {52};
    case Format::tq2_0:
      return {64};
  }
  return {};
}

}  // namespace oracle

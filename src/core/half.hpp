// fp16 and bf16, bit for bit: widening is exact, narrowing rounds to nearest even and overflows to infinity.
// Sources: IEEE 754-2008 binary16; bfloat16 as the upper half of binary32.
#pragma once

#include <bit>
#include <cstdint>

namespace soffit {

constexpr float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) {
    // Subnormal: mantissa * 2^-24, exact in fp32.
    const float value = float(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

constexpr uint16_t float_to_half(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u);   // NaN, quiet
  if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {                                  // below 2^-14: subnormal or zero
    // Adding 0.5 puts the value's 2^-24 unit at the last mantissa bit, so the addition rounds it to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return uint16_t(sign | (rounded - 0x38000000u) >> 13);
}

constexpr float bfloat_to_float(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }

constexpr uint16_t float_to_bfloat(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t(bits >> 16 | 0x40u);  // NaN, quiet
  return uint16_t((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace soffit

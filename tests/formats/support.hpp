// What the tests of the formats share.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "soffit/format.hpp"

namespace soffit {
inline void PrintTo(Format format, std::ostream* out) { *out << info(format).name; }
}  // namespace soffit

namespace soffit::test {

inline std::vector<Format> formats_with_kernels() {
  std::vector<Format> formats;
  for (const auto& f : all_formats())
    if (f.supported) formats.push_back(Format(f.id));
  return formats;
}

inline bool is_plain(Format f) { return f == Format::f32 || f == Format::f16 || f == Format::bf16; }

inline std::string format_name(const testing::TestParamInfo<Format>& param) {
  return std::string(info(param.param).name);
}

using Random = std::mt19937_64;

inline void fill_random(std::vector<uint8_t>& bytes, Random& random) {
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t r = random();
    std::memcpy(&bytes[i], &r, std::min<size_t>(8, bytes.size() - i));
  }
}

// Normal values by Box and Muller: the library's distribution differs from one implementation to the next.
inline std::vector<float> normal_values(size_t n, Random& random) {
  const auto uniform = [&] { return (double(random() >> 11) + 1) * 0x1p-53; };  // in (0, 1]
  std::vector<float> x(n);
  for (float& v : x) v = float(std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()));
  return x;
}

inline std::vector<float> decode(Format format, const std::vector<uint8_t>& bytes) {
  const FormatInfo& f = info(format);
  const size_t blocks = bytes.size() / f.block_bytes;
  std::vector<float> y(blocks * f.block_elements);
  f.decode(reinterpret_cast<const std::byte*>(bytes.data()), y.data(), blocks);
  return y;
}

inline std::vector<uint8_t> encode(Format format, const std::vector<float>& x, uint8_t before = 0) {
  const FormatInfo& f = info(format);
  const size_t blocks = x.size() / f.block_elements;
  std::vector<uint8_t> bytes(blocks * f.block_bytes, before);
  f.encode(x.data(), reinterpret_cast<std::byte*>(bytes.data()), blocks);
  return bytes;
}

// The value's bits are those of the exact result rounded to fp32 once; NaN equals NaN. Sign of zero included.
inline bool same(float value, double exact) {
  if (std::isnan(exact)) return std::isnan(value);
  return std::bit_cast<uint32_t>(value) == std::bit_cast<uint32_t>(float(exact));
}

inline uint16_t word_at(const std::vector<uint8_t>& bytes, size_t offset) {
  return uint16_t(bytes[offset] | bytes[offset + 1] << 8);
}
inline void set_word(std::vector<uint8_t>& bytes, size_t offset, uint16_t word) {
  bytes[offset] = uint8_t(word);
  bytes[offset + 1] = uint8_t(word >> 8);
}

class EachFormat : public testing::TestWithParam<Format> {
 protected:
  Format format = GetParam();
  const FormatInfo& f = info(format);
};

}  // namespace soffit::test

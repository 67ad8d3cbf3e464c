// What decodes weights for kernels that use them more than once: strips of 16 neighbouring columns, to the bits that
// the reference has. Each format has a header in metal/strips that defines `Strips`:
//
//   kTails                            whether rows may end within a strip; then what is behind a row's end is 0
//   strip(row, number, cols, weights) the strip of that number in a row of `cols` columns
//   activations<count>(column, first, cols, to)  as many of a column of activations, with the same zeros
//
// Codes become numbers without a conversion: as mantissas of halves that are 1024 and something, from which 1024 is
// taken again. All that is computed with them in half is exact, since nothing has more than 11 bits.
#ifndef SOFFIT_METAL_STRIPS_H
#define SOFFIT_METAL_STRIPS_H

#include <metal_stdlib>
using namespace metal;

namespace soffit {

inline float half_at(device const uchar* bytes) { return float(*reinterpret_cast<device const half*>(bytes)); }

inline uint pair_of(device const uchar* bytes) { return as_type<uint>(ushort2(bytes[0], bytes[1])); }

// The bits of two neighbouring bytes that the mask picks, as numbers, less `offset`.
inline half2 picked(uint pair, uint mask, half offset) {
  return as_type<half2>((pair & mask) | 0x64006400u) - (1024.0h + offset);
}

// weights = scale * (nibble - offset) for the low or high nibbles of 16 bytes.
inline void nibble_strip(device const uchar* bytes, bool high, half offset, float scale, thread float* weights) {
  const uint mask = high ? 0x00f000f0u : 0x000f000fu;
  const half standing = high ? offset * 16.0h : offset;  // high nibbles stay where they are, 16 times too large
  const float factor = high ? scale * (1.0f / 16) : scale;
  for (ushort i = 0; i < 16; i += 2) {
    const half2 codes = picked(pair_of(bytes + i), mask, standing);
    weights[i] = factor * float(codes.x);
    weights[i + 1] = factor * float(codes.y);
  }
}

// weights = scale * (code - offset): the low or high nibbles of 16 bytes and their fifth bits, eight a byte.
inline void five_bit_strip(device const uchar* bytes, device const uchar* fifth, bool high, half offset, float scale,
                           thread float* weights) {
  const uint mask = high ? 0x00f000f0u : 0x000f000fu;
  const half down = high ? 1.0h / 16 : 1.0h;
  for (ushort i = 0; i < 16; i += 2) {
    const uint bits = as_type<uint>(ushort2(fifth[i / 8], fifth[i / 8]));
    const half2 bit =
        picked(bits, (0x00020001u << i % 8), 0.0h) * half2(16.0h / half(1 << i % 8), 8.0h / half(1 << i % 8));
    const half2 codes = picked(pair_of(bytes + i), mask, 0.0h) * down + (bit - offset);
    weights[i] = scale * float(codes.x);
    weights[i + 1] = scale * float(codes.y);
  }
}

// weights = values[nibble] * scale.
inline void table_strip(device const uchar* bytes, bool high, constant half* values, float scale,
                        thread float* weights) {
  for (ushort i = 0; i < 16; i += 4) {
    const uint word = as_type<uint>(uchar4(bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]));
    const uchar4 codes = as_type<uchar4>((high ? word >> 4 : word) & 0x0f0f0f0fu);
    for (ushort k = 0; k < 4; ++k) weights[i + k] = float(values[codes[k]]) * scale;
  }
}

inline void subtract(float minimum, thread float* weights) {
  for (ushort i = 0; i < 16; ++i) weights[i] -= minimum;
}

// Scale and minimum of a group of Q4_K or Q5_K, from the block's 12 bytes.
inline float2 six_bit_scales(device const uchar* packed, ushort group) {
  if (group < 4) return float2(float(packed[group] & 63), float(packed[group + 4] & 63));
  const uchar nibbles = packed[group + 4];
  return float2(float((nibbles & 15) | (packed[group - 4] >> 6 << 4)),
                float((nibbles >> 4) | (packed[group] >> 6 << 4)));
}

template <typename Block>
struct BlockStrips {
  static constant constexpr bool kTails = false;

  static void strip(device const uchar* row, uint number, uint, thread float* weights) {
    constexpr ushort strips = Block::kColumns / 16;
    Block::strip(row + number / strips * Block::kBytes, ushort(number % strips), weights);
  }
  // Activations `first` … `first` + count - 1 of a column, for such a strip or a part of it.
  template <ushort count, typename X, typename To>
  static void activations(device const X* column, uint first, uint, To to) {
    for (ushort i = 0; i < count; ++i) to[i] = column[first + i];
  }
};

template <typename Number>
struct NumberStrips {
  static constant constexpr bool kTails = true;

  static void strip(device const uchar* row, uint number, uint cols, thread float* weights) {
    device const Number* numbers = reinterpret_cast<device const Number*>(row) + 16 * number;
    if (16 * number + 16 <= cols) {
      for (ushort i = 0; i < 16; ++i) weights[i] = float(numbers[i]);
    } else {
      for (ushort i = 0; i < 16; ++i) weights[i] = 16 * number + i < cols ? float(numbers[i]) : 0.0f;
    }
  }
  template <ushort count, typename X, typename To>
  static void activations(device const X* column, uint first, uint cols, To to) {
    if (first + count <= cols) {
      for (ushort i = 0; i < count; ++i) to[i] = column[first + i];
    } else {
      for (ushort i = 0; i < count; ++i) to[i] = first + i < cols ? column[first + i] : X(0);
    }
  }
};

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_H

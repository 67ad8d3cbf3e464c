// TQ1_0 to floats, as a prefill kernel fills its tile with weights. The write-up on TQ1_0 has two ways through an interface
// that asks for 16 neighbouring elements of a block, numbered by strip = 0 … 15; the third is what it leaves open.
//
//   element  for each element its byte and digit by integer division, the digit by wrapping multiplication: integer work
//            for each element
//   hoisted  a strip has one digit of 16 neighbouring bytes, so byte and digit are found once; the digit n of a byte is
//            floor(3^(n+1) byte / 256) - 3 floor(3^n byte / 256), both exact in fp32. The last strip is the 4 bytes of qh
//   block    a lane takes a byte and writes all of its digits: the payload is read once instead of five times
//
// Strips 0 … 9 are digits 0 … 4 of the 32 bytes, halves in turn; 10 … 14 digits 0 … 4 of the 16; 15 the four of qh.
#include <metal_stdlib>
using namespace metal;

constant constexpr ushort kBlockBytes = 54;

inline float scale_of(device const uchar* block) { return float(*reinterpret_cast<device const half*>(block + 52)); }

kernel void dequantize_tq1_0_element(constant uint& strips [[buffer(0)]], device const uchar* blocks [[buffer(1)]],
                                     device float* out [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  if (index >= strips) return;
  device const uchar* block = blocks + index / 16 * kBlockBytes;
  const float scale = scale_of(block);
  const uint strip = index % 16;
  for (ushort i = 0; i < 16; ++i) {
    const uint element = strip * 16 + i;
    const uint bytes = element < 160 ? 32 : element < 240 ? 16 : 4, first = element < 160 ? 0 : element < 240 ? 160 : 240;
    const uint offset = element < 160 ? 0 : element < 240 ? 32 : 48;
    uint power = 1;
    for (uint n = (element - first) / bytes; n > 0; --n) power *= 3;
    const uchar fraction = uchar(block[offset + (element - first) % bytes] * power);
    const int digit = (int(fraction) * 3) >> 8;
    out[index * 16 + i] = float(digit - 1) * scale;
  }
}

inline float digit_of(float byte, float power) { return floor(byte * (3.0f * power)) - 3.0f * floor(byte * power); }

kernel void dequantize_tq1_0_hoisted(constant uint& strips [[buffer(0)]], device const uchar* blocks [[buffer(1)]],
                                     device float* out [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  if (index >= strips) return;
  constexpr float powers[5] = {1.0f / 256, 3.0f / 256, 9.0f / 256, 27.0f / 256, 81.0f / 256};
  device const uchar* block = blocks + index / 16 * kBlockBytes;
  const float scale = scale_of(block);
  const uint strip = index % 16;
  device float* to = out + index * 16;
  if (strip < 15) {
    device const uchar* bytes = block + (strip < 10 ? strip % 2 * 16 : 32);
    const float power = powers[strip < 10 ? strip / 2 : strip - 10];
    for (ushort i = 0; i < 16; ++i) to[i] = (digit_of(float(bytes[i]), power) - 1.0f) * scale;
  } else {
    for (ushort i = 0; i < 16; ++i) to[i] = (digit_of(float(block[48 + i % 4]), powers[i / 4]) - 1.0f) * scale;
  }
}

// A lane has a byte of the block's 52: 5 digits, or 4.
kernel void dequantize_tq1_0_block(constant uint& lanes_needed [[buffer(0)]], device const uchar* blocks [[buffer(1)]],
                                   device float* out [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  if (index >= lanes_needed) return;
  const uint number = index / 52, byte = index % 52;
  device const uchar* block = blocks + number * kBlockBytes;
  const float scale = scale_of(block);
  const uint distance = byte < 32 ? 32 : byte < 48 ? 16 : 4;
  const uint first = byte < 32 ? byte : byte < 48 ? 160 + byte - 32 : 240 + byte - 48;
  const float value = float(block[byte]);
  float before = 0.0f, power = 3.0f / 256;
  for (ushort n = 0; n < 5; ++n) {
    if (n == 4 && byte >= 48) break;
    const float after = floor(value * power);
    out[number * 256 + first + n * distance] = (after - 3.0f * before - 1.0f) * scale;
    before = after;
    power *= 3.0f;
  }
}

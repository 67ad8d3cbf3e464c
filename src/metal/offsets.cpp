#include "metal/offsets.hpp"

namespace soffit::metal {

double code_offset(Format format, size_t i) {
  switch (format) {
    case Format::q4_k:
      return i / 32 % 2 ? 2 * 32 : 2 * 512;
    case Format::q5_k:
      // The nibble's offset, and that of the fifth bit, which stands at 4 or 8 times 4^part and counts 16.
      return 2 * (i / 32 % 2 ? 32 : 512) + 2 * 16 * 1024 / double((i / 32 % 2 ? 8 : 4) << 2 * (i / 64));
    case Format::q6_k:
      return i % 128 < 64 ? 1024 + 1056 : 64 + 96;
    case Format::q8_0:
      return 2 * 1152;
    case Format::tq1_0:
      return 2 * 5;
    case Format::q4_0:
    case Format::q4_1:
      return 2 * ((i < 16 ? 512 : 32) + 8);
    case Format::q5_0:
    case Format::q5_1:
      return 2 * (64 + 16);
    case Format::q2_k:
      return 2 * 1024 / double(4 << 2 * (i % 128 / 32));
    case Format::q3_k:
      // The twos' offset and the 4, and that of the third bit, which stands at 4 or 64 times 2^n and counts 4.
      return 2 * (1024 / double(4 << 2 * (i % 128 / 32)) + 4) +
             2 * 4 * 1024 / double((i < 128 ? 4 : 64) << i % 128 / 32);
    case Format::tq2_0:
      return 2 * (1024 / double(4 << 2 * (i % 128 / 32)) + 1);
    default:
      return 0;
  }
}

}  // namespace soffit::metal

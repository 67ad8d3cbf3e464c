// TQ1_0: 256 elements of -1, 0 or 1, five base-3 digits a byte, one scale; 1.6875 bits an element.
//
//   byte  0                    32                    48                    52      54
//         | 32 bytes, 5 digits | 16 bytes, 5 digits  | 4 bytes, 4 digits   | d f16 |
//           elements 0…159       elements 160…239      elements 240…255
//
// Digit n of byte j of a region of b bytes is element n*b + j of that region: neighbours are in neighbouring bytes.
// Digits t0…t4, the first the most significant, make x = ((((t0*3 + t1)*3 + t2)*3 + t3)*3 + t4); the byte is
// ceil(256*x / 243), so that byte/256 as a base-3 fraction begins with those digits: each multiplication by 3 carries
// the next one over the point. Of a byte of four digits t4 is 0. 13 byte values are never written, yet decode too.
//
//   y = (t - 1) * d
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "soffit/format.hpp"

namespace soffit {

struct TQ1_0 {
  using Block = BlockTQ1_0;
  static constexpr Format kFormat = Format::tq1_0;
  static constexpr std::string_view kName = "tq1_0";
  static constexpr int kElements = 256;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    y = decode_region(block.qs, 32, 5, d, y);
    y = decode_region(block.qs + 32, 16, 5, d, y);
    decode_region(block.qh, 4, 4, d, y);
  }

 private:
  // Returns the place behind what it wrote.
  static float* decode_region(const uint8_t* from, int bytes, int digits, float d, float* y) {
    for (int j = 0; j < bytes; ++j) {
      int fraction = from[j];
      for (int n = 0; n < digits; ++n) {
        const int digit = fraction * 3 >> 8;
        fraction = fraction * 3 & 255;
        y[n * bytes + j] = float(digit - 1) * d;
      }
    }
    return y + bytes * digits;
  }
};

}  // namespace soffit

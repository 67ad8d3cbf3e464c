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
#include "formats/encode.hpp"
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

  // The largest magnitude becomes the scale, and what is at least half of it 1 or -1.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -kMaxHalf, kMaxHalf);
    const float largest = std::fabs(extreme(x.data(), kElements));
    const StoredScale d(largest);
    block.d = d.half;
    const float* next = encode_region(x.data(), d.inverse, 32, 5, block.qs);
    next = encode_region(next, d.inverse, 16, 5, block.qs + 32);
    encode_region(next, d.inverse, 4, 4, block.qh);
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

  // Returns the place behind what it read.
  static const float* encode_region(const float* x, float inverse, int bytes, int digits, uint8_t* to) {
    for (int j = 0; j < bytes; ++j) {
      int value = 0;
      for (int n = 0; n < 5; ++n) {
        const int digit = n < digits ? int(std::round(x[n * bytes + j] * inverse)) + 1 : 0;
        value = value * 3 + digit;
      }
      to[j] = uint8_t((value * 256 + 242) / 243);
    }
    return x + bytes * digits;
  }
};

}  // namespace soffit

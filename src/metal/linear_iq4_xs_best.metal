// IQ4_XS matrix times vector by a table of bytes, as linear_iq4_nl_best.metal. A lane has a group of 32 codes, so one scale.
// Loads of 8 bytes: rows begin at multiples of 8 bytes.
#include "formats/blocks.h"
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct IQ4XSPart {
  static constant constexpr ushort kColumns = 256, kBytes = 136, kParts = 8;
  static constant constexpr float kFactor = 1.0f;

  X low[16], high[16];

  void load(device const X* x, ushort part) {
    for (ushort i = 0; i < 16; ++i) {
      low[i] = x[32 * part + i];
      high[i] = x[32 * part + 16 + i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, threadgroup const half2* table, thread float& result) const {
    device const uint2* codes = reinterpret_cast<device const uint2*>(bytes + 8 + 16 * part);
    float sum = 0.0f;
    for (ushort pair = 0; pair < 2; ++pair) {
      const uint2 words = codes[pair];
      for (ushort word = 0; word < 2; ++word) {
        const uchar4 four = as_type<uchar4>(words[word]);
        for (ushort i = 0; i < 4; ++i) {
          const half2 values = table[four[i]];
          sum += float(values.x) * low[8 * pair + 4 * word + i];
          sum += float(values.y) * high[8 * pair + 4 * word + i];
        }
      }
    }
    // The group's scale, and 32: a nibble, and two bits of a 16-bit word.
    device const half* block_scale = reinterpret_cast<device const half*>(bytes);
    const ushort low_bits = (bytes[4 + part / 2] >> part % 2 * 4) & 0x0f;
    const ushort high_bits = (reinterpret_cast<device const ushort*>(bytes)[1] >> 2 * part) & 0x03;
    const half scale = as_type<half>(ushort(low_bits | high_bits << 4 | 0x6400)) - 1056.0h;
    result += sum * float(scale) * float(block_scale[0]);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_TABLE_KERNEL(iq4_xs_best, IQ4XSPart, soffit::kIq4Values)

// MXFP4 matrix times vector by a table of bytes, as linear_iq4_nl_best.metal. A block is 17 bytes, so bytes are what can be
// loaded. Scales below 2^-126 are fp32 subnormals: a device that takes those for zero loses weights below 2^-123.
#include "formats/blocks.h"
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct MXFP4Part {
  static constant constexpr ushort kColumns = 32, kBytes = 17, kParts = 2;
  static constant constexpr float kFactor = 1.0f;

  X low[8], high[8];

  void load(device const X* x, ushort part) {
    for (ushort i = 0; i < 8; ++i) {
      low[i] = x[8 * part + i];
      high[i] = x[16 + 8 * part + i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, threadgroup const half2* table, thread float& result) const {
    float sum = 0.0f;
    for (ushort i = 0; i < 8; ++i) {
      const half2 values = table[bytes[1 + 8 * part + i]];
      sum += float(values.x) * low[i];
      sum += float(values.y) * high[i];
    }
    const uint exponent = bytes[0];  // the table is doubled, so the scale is half of what the byte says
    result += sum * as_type<float>(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_TABLE_KERNEL(mxfp4_best, MXFP4Part, soffit::kE2m1Doubled)

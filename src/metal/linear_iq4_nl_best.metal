// IQ4_NL matrix times vector by a table of bytes: two values, those of its nibbles, for each byte. So a code costs no slot
// at all but its fma, and half a load of 4 bytes from threadgroup memory, of which the table takes 1 KiB. A lane has 8 of
// a block's 16 bytes.
#include "formats/blocks.h"
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct IQ4NLPart {
  static constant constexpr ushort kColumns = 32, kBytes = 18, kParts = 2;
  static constant constexpr float kFactor = 1.0f;

  X low[8], high[8];

  void load(device const X* x, ushort part) {
    for (ushort i = 0; i < 8; ++i) {
      low[i] = x[8 * part + i];
      high[i] = x[16 + 8 * part + i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, threadgroup const half2* table, thread float& result) const {
    device const ushort* codes = reinterpret_cast<device const ushort*>(bytes + 2 + 8 * part);
    float sum = 0.0f;
    for (ushort i = 0; i < 4; ++i) {
      const uchar2 pair = as_type<uchar2>(codes[i]);
      const half2 first = table[pair.x], second = table[pair.y];
      sum += float(first.x) * low[2 * i];
      sum += float(first.y) * high[2 * i];
      sum += float(second.x) * low[2 * i + 1];
      sum += float(second.y) * high[2 * i + 1];
    }
    result += sum * float(*reinterpret_cast<device const half*>(bytes));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_TABLE_KERNEL(iq4_nl_best, IQ4NLPart, soffit::kIq4Values)

// Q8_0 matrix times vector without converting a code to float: as linear_q4_k_best.metal, with codes of eight bits.
//
// A byte read as unsigned, with its sign bit turned over, is code + 128; in the mantissa of a half that is 1024 it makes
// 1152 + code. One xor does both for two codes: half an integer slot and an fma a weight. Bytes are loaded as bytes, which
// the hardware widens to 16 bits on the way.
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct Q80Part {
  static constant constexpr ushort kColumns = 32, kBytes = 34, kParts = 2;
  static constant constexpr float kFactor = 1.0f;

  X columns[16];
  float start;

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort i = 0; i < 16; ++i) {
      columns[i] = x[16 * part + i];
      start -= 1152.0f * columns[i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const uchar* codes = bytes + 2 + 16 * part;
    float sum = start;
    for (ushort i = 0; i < 16; i += 2) {
      const half2 pair = as_type<half2>(as_type<uint>(ushort2(codes[i], codes[i + 1])) ^ 0x64806480u);
      sum += float(pair.x) * columns[i];
      sum += float(pair.y) * columns[i + 1];
    }
    result += sum * float(*reinterpret_cast<device const half*>(bytes));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q8_0_best, Q80Part)

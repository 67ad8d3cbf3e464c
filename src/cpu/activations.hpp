// Activations as the CPU kernels read them: int8 with scales, or fp32; in blocks of 256 columns, the blocks of one
// column range side by side: block (b, row) of a batch of n rows is at b * n + row. Columns past the end are zero.
#pragma once

#include <cstdint>

namespace soffit::cpu {

inline constexpr int64_t kBlockColumns = 256;

// 256 columns of one row as int8, q = round(x / scale), scale = max|x| / 127 of 32 columns (the 32 form, for formats of
// 32-column blocks) or of 256 (the 256 form). In the 32 form the scale is then rounded to 11
// bits, but not in sum32.
//
// Codes are counted from 0 where weights are counted from a bias, so an accumulator over a group starts at minus bias
// times the sum of the group's q; those starts are stored ready for the biases there are.
struct alignas(64) QuantisedBlock {
  int8_t q[256];
  float scale[8];       // of each 32 columns; all equal in the 256 form
  float sum32[8];       // sum of q over 32 columns; in the 32 form times its scale
  float sum16[16];      // sum of q over 16 columns
  int32_t start128[8];  // -128 times the sum of q over 32 columns
  // 256 form: -32 times the sum of q over 16 columns. 32 form: -8 times the sum over 32 columns (eight), then -16 times
  // (eight).
  int32_t start[16];
  int32_t start256;  // minus the sum of all q
  // The sums over 32 and 16 columns as 32 * high + low and 16 * high + low, for products with minima in int8.
  int8_t high32[8], low32[8], high16[16], low16[16];
  int32_t unused[11];
};
static_assert(sizeof(QuantisedBlock) == 576);

// 256 columns of one row, not rounded.
struct alignas(64) FloatBlock {
  float x[256];
  float sum16[16];  // of each 16 columns
};
static_assert(sizeof(FloatBlock) == 1088);

enum class ActivationForm : uint8_t { int8_32, int8_256, float32 };
// Columns under one int8 scale; 0: not rounded.
constexpr int activation_block(ActivationForm form) {
  return form == ActivationForm::int8_32 ? 32 : form == ActivationForm::int8_256 ? 256 : 0;
}

}  // namespace soffit::cpu

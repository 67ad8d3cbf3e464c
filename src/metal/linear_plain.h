// Matrix times vector for weights that are numbers, in any number of columns.
//
// A lane has four neighbouring columns, in one load where rows begin at multiples of four numbers; the last few
// columns, one a lane, come by themselves.
#ifndef SOFFIT_METAL_LINEAR_PLAIN_H
#define SOFFIT_METAL_LINEAR_PLAIN_H

#include "metal/linear.h"

namespace soffit {

template <typename Part, typename X, typename Y>
inline void linear_numbers(constant LinearArguments& arguments, device const uchar* weights, device const X* x,
                           device Y* y, NoTable, uint group, ushort lane, ushort simdgroup) {
  typedef typename Part::Weight Weight;
  typedef vec<Weight, 4> Four;
  const bool together = arguments.row_bytes % sizeof(Four) == 0;
  const uint first_row = (group * kSimdgroups + simdgroup) * kRows;
  const uint fours = arguments.cols / 4, rest = arguments.cols % 4;

  float result[kMostRows] = {0.0f};
  for (uint four = lane; four < fours; four += 32) {
    X columns[4];
    for (ushort i = 0; i < 4; ++i) columns[i] = x[4 * four + i];
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      device const Weight* numbers =
          reinterpret_cast<device const Weight*>(weights + row * arguments.row_bytes) + 4 * four;
      Four values;
      if (together) {
        values = *reinterpret_cast<device const Four*>(numbers);
      } else {
        for (ushort i = 0; i < 4; ++i) values[i] = numbers[i];
      }
      for (ushort i = 0; i < 4; ++i) result[r] += float(values[i]) * columns[i];
    }
  }
  if (lane < rest) {
    const float column = x[4 * fours + lane];
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);
      device const Weight* numbers = reinterpret_cast<device const Weight*>(weights + row * arguments.row_bytes);
      result[r] += float(numbers[4 * fours + lane]) * column;
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]);
    if (lane == 0 && first_row + r < arguments.rows) y[first_row + r] = Y(sum);
  }
}

}  // namespace soffit

#define SOFFIT_LINEAR_NUMBERS_KERNEL(NAME, PART) \
  SOFFIT_LINEAR_KERNELS(NAME, linear_numbers, PART, const soffit::NoTable table = {};)

#endif  // SOFFIT_METAL_LINEAR_PLAIN_H

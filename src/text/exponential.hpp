// e^x of basic operations alone: the same bits on every machine with IEEE doubles, which the C library's exp does not
// promise. Sampling compares sums of such values with thresholds, so a last bit can change a text.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace soffit::text {

// For x <= 0 (a logit less the largest one): within 2^-51 of the true value relatively; 0 below -700.
inline double exponential(double x) {
  if (!(x >= -700.0)) return 0.0;
  // x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts, so that n times the first is exact.
  constexpr double kLog2E = 1.4426950408889634074, kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const double n = std::floor(x * kLog2E + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  // Taylor: the first term left out, r^14 / 14!, is below 5e-18.
  constexpr double kFactorials[] = {6227020800., 479001600., 39916800., 3628800., 362880., 40320., 5040.,
                                    720.,        120.,       24.,       6.,       2.,      1.,     1.};
  double sum = 0;
  for (double factorial : kFactorials) sum = sum * r + 1.0 / factorial;
  return sum * std::bit_cast<double>(uint64_t(int64_t(n) + 1023) << 52);
}

}  // namespace soffit::text

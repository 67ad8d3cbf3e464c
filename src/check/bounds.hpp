// How far a right result may be from the exact one. Derived, not picked; everything is per result.
//
// Let u = 2^-24, half the distance from 1 to the next fp32 number, and w the reference decode of the weights.
//
// 1. Activations rounded to int8 (Support::activation_block columns share m = largest |x|, s = m / 127, q = x / s
//    rounded). With t = 127 x / m: the kernel rounds fl(x * fl(127 / m)) = t (1 + 2 eps), |eps| <= u, so |q - t| <= 1/2
//    + 254.1 u, and its scale is s (1 + eps). Then
//      |s q - x| <= m / 254 + (m / 127)(254.1 u + 127 u) <= m / 254 + 3.1 u m,   and = |x| where q = 0,
//    so   e = min(|x|, m / 254) + 4 u m,   0 where x = 0,   plus 127 * 2^-149 for scales that are subnormal.
//    Scales of 32 columns may be rounded to 11 bits after that, which is another 2^-11 |s q| <= 2^-11 (|x| + m / 254);
//    those that minima are multiplied with may not, so that with minima the difference reaches both parts: 2^-11 T.
//    Rounding x moves the result by at most   R = sum |w| e.
//    Not rounded: e = 0.
//
// 2. Decode. w = code * scale - minimum: the reference rounds the difference, kernels sum both parts apart. The
// products
//    code * scale and minimum are exact in fp32: fp16 times at most 13 bits.   D = u sum |w x|  where there is a
//    minimum, else 0.
//
// 3. fp32 arithmetic. Whatever the order of summation, a result of N terms is a sum of terms each of which went through
//    at most N - 1 additions and P products, every one with a relative error of at most u. So with T = sum of |term|
//      F = gamma(N - 1 + P) T,   gamma(n) = n u / (1 - n u)    (Higham, Accuracy and Stability, section 3.1)
//    int8:  integer sums of a group of columns are exact (|sum| < 2^24), or those of a tile, rounded once, so a term is
//    a
//           group's sum or minimum times scales: N = groups (twice with minima) + blocks of 256 columns, that are
//           scaled once more; P = 3.
//    fp32:  N = columns + groups (twice with minima), P = 3.
//    |term| summed is at most  T = sum |part| (|x| + e)  over both parts of each weight.
//    Results below 2^-126 round to multiples of 2^-149:  plus N 2^-149 max(1, sum (|x| + e), sum |part|).
//
//    With an offset (Support::code_offset) what is added to codes and taken off again are terms too, and there are
//    twice as many:  + gamma(2 N) offset sum |scale x|.
//
// 4. Epilogue: each step adds its rounding u |result| and carries the error of its inputs on; see Value.
//
// 5. Storing as f16 or bf16 rounds once more: by 2^-11 or 2^-8 of the result, or half the smallest subnormal.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "soffit/backend.hpp"
#include "soffit/operation.hpp"

namespace soffit::checker {

inline constexpr double kUnit = 0x1p-24;
// n roundings in a row.
constexpr double gamma(double n) { return n * kUnit / (1 - n * kUnit); }

// An exact value and how far a right result may be from it.
struct Value {
  double exact = 0, bound = 0;
};

// One row of activations, exact, with the error e of step 1.
void activation_errors(std::span<const double> x, int activation_block, std::span<double> errors);

// What the bound of one product is made of; sums over the columns.
struct ProductSums {
  double exact = 0;       // w x
  double rounding = 0;    // |w| e
  double decode = 0;      // |w x|
  double terms = 0;       // |part| (|x| + e)
  double activation = 0;  // |x| + e
  double parts = 0;       // |part|
  double steps = 0;       // |scale x|, only where codes have an offset
};
// What Support says of a kernel's arithmetic.
struct Arithmetic {
  int activation_block = 0;
  double code_offset = 0;
  bool has_offset() const { return code_offset > 0; }
  auto operator<=>(const Arithmetic&) const = default;
};
Value product(Format format, int64_t cols, const Arithmetic& arithmetic, const ProductSums& sums);

// The steps of Epilogue.
Value scaled(Value v, double factor);
Value plus(Value v, double addend);
// act(gate) * up.
Value gated(Activation activation, Value gate, Value up);
// act(x), with the error of computing it: see gated().
Value activated(Activation activation, Value x);

// The largest distance from v.exact that a result of this type may have.
double stored_bound(DataType type, Value v);
// |result - exact| / bound: above 1, or NaN, is a fault. 0 / 0 is 0.
double error_over_bound(double result, DataType type, Value v);

// The larger of two errors; NaN is the largest and stays.
inline double worse(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

}  // namespace soffit::checker

// Plain C++, as the scalar kernels are, for the compiler to vectorise as it can.
#include "measure/ceilings.hpp"

namespace soffit::measure {
namespace {

constexpr int kChains = 48;  // independent, so that no addition waits for the one before

// Hides where a value comes from, so that the loop cannot be solved in advance.
template <class T>
T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

template <class T>
double multiply_add(int64_t iterations) {
  const T factor = opaque(T(1)), term = opaque(T(1));
  T sums[kChains];
  for (T& sum : sums) sum = opaque(T(1));
  for (int64_t i = 0; i < iterations; ++i)
    for (T& sum : sums) sum = sum * factor + term;
  T total = 0;
  for (const T sum : sums) total += sum;
  (void)opaque(total);
  return double(iterations) * kChains * 2;
}

constexpr PeakLoops kPeaks = {{"32-bit multiply and add", multiply_add<uint32_t>},
                              {"fp32 multiply and add", multiply_add<float>}};

}  // namespace

const PeakLoops& portable_peaks() { return kPeaks; }

}  // namespace soffit::measure

#include "check/values.hpp"

#include <algorithm>
#include <cmath>

namespace soffit::checker {
namespace {

float sign_of(double w) { return w < 0 ? -1.0f : 1.0f; }

// The largest of each 32 is 127, so that the scale is 1 for blocks of 32 and of 256 alike.
void fill_midpoints(Random& random, std::span<const double> weights, std::span<float> x) {
  for (size_t k = 0; k < x.size(); ++k)
    x[k] = k % 32 == 0 ? 127.0f : sign_of(weights[k]) * (float(random.below(100)) + 0.4998f);
}

void fill_losses(std::span<const double> weights, std::span<float> x) {
  std::ranges::fill(x, 0.0f);
  size_t first = 0;
  while (first < x.size() && weights[first] == 0) ++first;
  if (first == x.size()) return;
  x[first] = 1.0f;
  // Half of what is between the first product and the next fp32 number is 2^-24 of its power of two.
  const double half_step = std::ldexp(1.0, std::ilogb(weights[first]) - 24) * sign_of(weights[first]);
  for (size_t k = first + 1; k < x.size(); ++k)
    if (weights[k] != 0) x[k] = float(0.98 * half_step / weights[k]);
}

void fill_range(Random& random, std::span<float> x, size_t begin, size_t end) {
  std::ranges::fill(x, 0.0f);
  for (size_t k = begin; k < std::min(end, x.size()); ++k) x[k] = random.normal();
}

}  // namespace

const char* to_string(Values values) {
  constexpr const char* kNames[] = {"normal",    "midpoints", "losses",   "last_block",
                                    "one_block", "one_hot",   "constant", "spike"};
  return kNames[size_t(values)];
}

void fill_values(Values kind, Random& random, std::span<const double> weights, std::span<float> x) {
  if (x.empty()) return;
  const size_t last = (x.size() - 1) / 32 * 32;
  switch (kind) {
    case Values::normal:
      return fill_range(random, x, 0, x.size());
    case Values::midpoints:
      return fill_midpoints(random, weights, x);
    case Values::losses:
      return fill_losses(weights, x);
    case Values::last_block:
      return fill_range(random, x, last, x.size());
    case Values::one_block: {
      const auto block = size_t(random.below(int64_t(last / 32 + 1)));
      return fill_range(random, x, 32 * block, 32 * block + 32);
    }
    case Values::one_hot: {
      const auto column = size_t(random.below(int64_t(x.size())));
      return fill_range(random, x, column, column + 1);
    }
    case Values::constant:
      for (size_t k = 0; k < x.size(); k += 32) {
        const float value = (random.below(2) ? 1.0f : -1.0f) * (random.below(2) ? 2000.0f : 3000.0f);
        std::fill_n(x.begin() + ptrdiff_t(k), std::min<size_t>(32, x.size() - k), value);
      }
      return;
    case Values::spike:
      fill_range(random, x, 0, x.size());
      x[size_t(random.below(int64_t(x.size())))] = 1e5f;
      return;
  }
}

}  // namespace soffit::checker

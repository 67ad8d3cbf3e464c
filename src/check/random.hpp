// Random numbers for checks, the same on every machine. Source: SplitMix64 (Steele, Lea and Flood, 2014).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace soffit::checker {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  // In [0, n).
  int64_t below(int64_t n) { return int64_t((unsigned __int128)next() * uint64_t(n) >> 64); }
  // In (0, 1].
  double uniform() { return (double(next() >> 11) + 1) * 0x1p-53; }
  // N(0, 1), by Box and Muller.
  float normal() { return float(std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform())); }

 private:
  uint64_t state_;
};

}  // namespace soffit::checker

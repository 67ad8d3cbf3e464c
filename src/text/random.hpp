// A pseudo-random generator whose sequence is part of soffit's contract: the same seed gives the same text everywhere.
// Source: xoshiro256** 1.0, seeded by SplitMix64 (Blackman and Vigna, 2018), both in the public domain.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace soffit::text {

// SplitMix64: one step of the state, and its output.
constexpr uint64_t split_mix(uint64_t& state) {
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

class Random {
 public:
  explicit constexpr Random(uint64_t seed) {
    for (uint64_t& word : state_) word = split_mix(seed);
  }

  constexpr uint64_t next() {
    auto& s = state_;
    const uint64_t result = std::rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3];
    s[2] ^= t;
    s[3] = std::rotl(s[3], 45);
    return result;
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  constexpr double uniform() { return double(next() >> 11) * 0x1p-53; }

 private:
  std::array<uint64_t, 4> state_{};
};

}  // namespace soffit::text

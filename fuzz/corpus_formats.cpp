// A block of 256 weights for each format: ordinary ones, zeros, and bits that are no ordinary numbers.
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "corpus.hpp"

namespace soffit::fuzz {

void make_formats(const Corpus& corpus) {
  for (const FormatInfo& format : all_formats()) {
    if (!format.supported) continue;
    std::vector<std::byte> seed = {std::byte(format.id)};
    uint32_t state = format.id;
    for (int i = 0; i < 256; i++) {
      state = state * 1664525 + 1013904223;
      const float ordinary = std::ldexp(float(int(state >> 24) - 128), int(state >> 8 & 7) - 10);
      const float weight = i / 32 == 3 ? 0.0f : i / 32 == 6 && i % 4 == 0 ? std::bit_cast<float>(state) : ordinary;
      const auto bytes = std::as_bytes(std::span(&weight, 1));
      seed.insert(seed.end(), bytes.begin(), bytes.end());
    }
    corpus.seed(format.name, seed);
  }
}

}  // namespace soffit::fuzz

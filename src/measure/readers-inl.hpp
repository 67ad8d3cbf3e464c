// Plain reads with registers of SOFFIT_READER_BYTES bytes. Included once by each readers_N.cpp, in whose anonymous
// namespace everything lies: the same code compiled with other flags must not be merged with it.
//
// What differs is what the memory system cares about: how many loads are in flight (unroll), how far ahead lines are
// asked for and into which cache (prefetch), and how many streams the hardware prefetcher has to follow.
#pragma once

#include <cstdint>
#include <cstring>

#include "measure/ceilings.hpp"

namespace soffit::measure {
namespace {

typedef uint64_t Vector __attribute__((vector_size(SOFFIT_READER_BYTES)));

inline Vector load(const uint8_t* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline uint64_t fold(const Vector& v) {
  uint64_t words[sizeof(Vector) / 8], sum = 0;
  std::memcpy(words, &v, sizeof v);
  for (uint64_t w : words) sum ^= w;
  return sum;
}

// Words that no whole round of the vector loop covers.
inline uint64_t read_rest(const uint8_t* from, uint64_t size) {
  uint64_t sum = 0, word = 0;
  for (; size >= 8; from += 8, size -= 8) {
    std::memcpy(&word, from, 8);
    sum ^= word;
  }
  word = 0;
  std::memcpy(&word, from, size);
  return sum ^ word;
}

// kStreams parts of the bytes are read side by side, kUnroll vectors of each at a time. A prefetch distance of 0 is
// none; T0 brings a line to the first cache, T1 to the second. Prefetches past the end do no harm: they never fault.
template <int kUnroll, int kStreams, int kT0, int kT1>
uint64_t read_streams(const uint8_t* from, uint64_t size) {
  constexpr uint64_t kRound = sizeof(Vector) * kUnroll, kLine = 64;
  const uint64_t part = size / kStreams / kRound * kRound;
  Vector sums[kStreams][kUnroll] = {};
  for (uint64_t at = 0; at < part; at += kRound) {
#pragma GCC unroll 8
    for (int s = 0; s < kStreams; ++s) {
      const uint8_t* round = from + uint64_t(s) * part + at;
      if constexpr (kT0 || kT1) {
#pragma GCC unroll 16
        for (uint64_t line = 0; line < kRound; line += kLine) {
          if constexpr (kT0 != 0) __builtin_prefetch(round + line + kT0, 0, 3);
          if constexpr (kT1 != 0) __builtin_prefetch(round + line + kT1, 0, 2);
        }
      }
#pragma GCC unroll 16
      for (int u = 0; u < kUnroll; ++u) sums[s][u] ^= load(round + sizeof(Vector) * size_t(u));
    }
  }
  Vector sum = {};
  for (auto& stream : sums)
    for (const Vector& v : stream) sum ^= v;
  return fold(sum) ^ read_rest(from + part * kStreams, size - part * kStreams);
}

#define SOFFIT_STRINGIFY_(x) #x
#define SOFFIT_STRINGIFY(x) SOFFIT_STRINGIFY_(x)
#define SOFFIT_READER_NAME(text) SOFFIT_STRINGIFY(SOFFIT_READER_BYTES) " B x " text

// At most 16 vectors are live: what every instruction set has registers for.
constexpr Reader kReaders[] = {
    {SOFFIT_READER_NAME("4"), read_streams<4, 1, 0, 0>},
    {SOFFIT_READER_NAME("8"), read_streams<8, 1, 0, 0>},
    {SOFFIT_READER_NAME("4, 2 streams"), read_streams<4, 2, 0, 0>},
    {SOFFIT_READER_NAME("4, 4 streams"), read_streams<4, 4, 0, 0>},
    {SOFFIT_READER_NAME("8, prefetch T0 2048"), read_streams<8, 1, 2048, 0>},
    {SOFFIT_READER_NAME("8, prefetch T0 2048, T1 8192"), read_streams<8, 1, 2048, 8192>},
    {SOFFIT_READER_NAME("8, prefetch T0 4096, T1 16384"), read_streams<8, 1, 4096, 16384>},
};

}  // namespace
}  // namespace soffit::measure

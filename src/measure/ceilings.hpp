// The loops whose speed is a machine's ceiling: plain reads and plain arithmetic, one table for each width of register
// or instruction set. They are compiled in translation units of their own, the only ones here with instruction-set
// flags; reader_sets() and peak_loops() hand out what the processor at hand can run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cpu/isa.hpp"

namespace soffit::measure {

// A way of reading memory once, from front to back.
struct Reader {
  std::string_view name;  // "64 B x 8, prefetch T0 4096 T1 16384"
  // The exclusive or of the 64-bit words of [from, from + size), the last one filled up with zeros: every byte is read
  // exactly once, and nothing outside.
  uint64_t (*read)(const uint8_t* from, uint64_t size);
};

// The ones with the widest loads of this processor, whatever instruction set the kernels use.
std::span<const Reader> widest_readers();

// Of one width in bytes (16, 32, 64); empty when this processor, or this build, has none. For tests.
std::span<const Reader> readers_of_width(int bytes);

// A loop that does nothing but the arithmetic of a kernel, out of registers.
struct PeakLoop {
  std::string_view instruction;       // "vpdpbusd zmm"
  double (*run)(int64_t iterations);  // returns operations done: two for a multiplication with its addition
};
struct PeakLoops {
  PeakLoop integer8;  // products of 8-bit integers, summed in 32 bits
  PeakLoop float32;   // fused multiply-add
};

// The fastest arithmetic that kernels of this instruction set can use.
const PeakLoops& peak_loops(cpu::Isa isa);

// The tables, each in its translation unit.
std::span<const Reader> readers_16();
std::span<const Reader> readers_32();
std::span<const Reader> readers_64();
const PeakLoops& portable_peaks();
const PeakLoops& avx2_peaks();
const PeakLoops& avx512_peaks();
const PeakLoops& neon_peaks();
const PeakLoops& neon_dotprod_peaks();

}  // namespace soffit::measure

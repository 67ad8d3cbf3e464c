// Compiled without instruction-set flags, so that asking can never fault.
#include "measure/ceilings.hpp"

namespace soffit::measure {

std::span<const Reader> readers_of_width(int bytes) {
  switch (bytes) {
    case 16:
      return readers_16();
#if defined(__x86_64__)
    case 32:
      if (__builtin_cpu_supports("avx2")) return readers_32();
      return {};
    case 64:
      if (__builtin_cpu_supports("avx512f")) return readers_64();
      return {};
#endif
    default:
      return {};
  }
}

std::span<const Reader> widest_readers() {
  for (const int bytes : {64, 32})
    if (const auto readers = readers_of_width(bytes); !readers.empty()) return readers;
  return readers_of_width(16);
}

const PeakLoops& peak_loops(cpu::Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case cpu::Isa::avx512:
      return avx512_peaks();
    case cpu::Isa::avx2:
      return avx2_peaks();
#elif defined(__aarch64__)
    case cpu::Isa::neon_dotprod:
      return neon_dotprod_peaks();
    case cpu::Isa::neon:
      return neon_peaks();
#endif
    default:
      return portable_peaks();
  }
}

}  // namespace soffit::measure

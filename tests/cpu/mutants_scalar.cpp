#include "cpu/target-inl.hpp"
#include "cpu/vector_scalar.hpp"
#include "mutants.hpp"

namespace soffit::test {
namespace {

using cpu::LinearJob;
using cpu::LinearKernel;
using cpu::VectorScalar;

template <class Tile, TileFault kFault>
struct FaultyTile : Tile {
  template <class V>
  static void scales(const uint8_t* t, float (*scale)[16], float (*minimum)[16]) {
    Tile::template scales<V>(t, scale, minimum);
    constexpr int kCount = cpu::kGroups<Tile>;
    if constexpr (kFault == TileFault::swapped_scales) {
      if (kCount > 1)
        std::swap_ranges(scale[0], scale[0] + 16, scale[1]);
      else
        std::swap(scale[0][0], scale[0][1]);
    }
    if constexpr (kFault == TileFault::shifted_scales) {
      if (kCount > 1)
        for (int g = kCount - 1; g > 0; --g) std::copy(scale[g - 1], scale[g - 1] + 16, scale[g]);
      else
        for (int r = 15; r > 0; --r) scale[0][r] = scale[0][r - 1];
    }
    if constexpr (kFault == TileFault::missing_minimum) std::fill(minimum[kCount - 1], minimum[kCount - 1] + 16, 0.0f);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    auto bytes = Tile::template codes<V, S>(t, chunk);
    if constexpr (kFault == TileFault::wrong_code && S == 1)
      if (chunk == 0) bytes.v[4 * 5 + 2] ^= 1;  // row 5, the third column of a step
    return bytes;
  }
};

template <TileFault kFault>
LinearKernel faulty(Format format) {
  LinearKernel kernel = cpu::scalar_kernels().linear(format);
  cpu::Tiles::for_each([&]<class Tile>() {
    if (Tile::Reference::kFormat != format) return;
    using Faulty = FaultyTile<Tile, kFault>;
    kernel.run = cpu::run_linear<VectorScalar, Faulty>;
    kernel.run_exact = cpu::run_exact<VectorScalar, Faulty>;
  });
  return kernel;
}

template <TileFault kFault>
cpu::VectorKernels table() {
  cpu::VectorKernels kernels = cpu::scalar_kernels();
  kernels.linear = faulty<kFault>;
  return kernels;
}

}  // namespace

const char* to_string(TileFault fault) {
  constexpr const char* kNames[] = {"none", "swapped_scales", "shifted_scales", "missing_minimum", "wrong_code"};
  return kNames[size_t(fault)];
}

bool applies(TileFault fault, Format format) {
  bool has = false;
  cpu::Tiles::for_each([&]<class Tile>() {
    if (Tile::Reference::kFormat == format) has = fault != TileFault::missing_minimum || Tile::kMinimum;
  });
  return has;
}

const cpu::VectorKernels& faulty_scalar_kernels(TileFault fault) {
  static const cpu::VectorKernels kTables[] = {table<TileFault::none>(), table<TileFault::swapped_scales>(),
                                               table<TileFault::shifted_scales>(), table<TileFault::missing_minimum>(),
                                               table<TileFault::wrong_code>()};
  return kTables[size_t(fault)];
}

}  // namespace soffit::test

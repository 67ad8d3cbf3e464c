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
  static constexpr int kCount = cpu::kGroups<Tile>;

  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    auto f = Tile::template factor<V>(t);
    if constexpr (kFault == TileFault::swapped_scales && kCount == 1) std::swap(f.v[0], f.v[1]);
    if constexpr (kFault == TileFault::shifted_scales && kCount == 1) std::copy_backward(f.v, f.v + 15, f.v + 16);
    return f;
  }
  template <class V>
  static typename V::Floats minimum_factor(const uint8_t* t) {
    if constexpr (kFault == TileFault::missing_minimum && kCount == 1) return V::set(0.0f);
    return Tile::template minimum_factor<V>(t);
  }
  template <class V, int G, class Header>
  static typename V::Ints scale(const Header& h) {
    if constexpr (kFault == TileFault::swapped_scales && G < 2) return Tile::template scale<V, 1 - G>(h);
    if constexpr (kFault == TileFault::shifted_scales && G > 0) return Tile::template scale<V, G - 1>(h);
    return Tile::template scale<V, G>(h);
  }
  template <class V, int I, class Header>
  static typename V::Bytes minimum(const Header& h) {
    auto m = Tile::template minimum<V, I>(h);
    if constexpr (kFault == TileFault::missing_minimum && I == kCount / 4 - 1)
      for (int r = 0; r < 16; ++r) m.v[4 * r + 3] = 0;
    return m;
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
  cpu::Tiles::for_each_of<VectorScalar>([&]<class Tile>() {
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
  cpu::Tiles::for_each_of<VectorScalar>([&]<class Tile>() {
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

// The table of one instruction set, from the templates. A target_*.cpp includes this after its vector_*.hpp.
#pragma once

#include "cpu/attention-inl.hpp"
#include "cpu/linear_exact-inl.hpp"
#include "cpu/linear_plain-inl.hpp"
#include "cpu/linear_telescoped-inl.hpp"
#include "cpu/tiles/tiles.hpp"

namespace soffit::cpu {

template <class V>
LinearKernel linear_kernel(Format format) {
  LinearKernel kernel;
  Tiles::for_each_of<V>([&]<class Tile>() {
    if (Tile::Reference::kFormat == format)
      kernel = {Tiles::index<Tile>(), Tile::kColumns,      Tile::kBytes,
                Tile::kForm,          run_linear<V, Tile>, run_exact<V, Tile>};
  });
  const auto plain = [&](void (*run)(const LinearJob&)) { kernel = {-1, 0, 0, ActivationForm::float32, run, run}; };
  if (format == Format::f32) plain(run_plain<V, ElementF32>);
  if (format == Format::f16) plain(run_plain<V, ElementF16>);
  if (format == Format::bf16) plain(run_plain<V, ElementBF16>);
  return kernel;
}

template <class V>
VectorKernels make_kernels(Isa isa) {
  VectorKernels k;
  k.isa = isa;
  k.linear = linear_kernel<V>;
  k.quantise = quantise<V>;
  k.sum_squares = sum_squares<V>;
  k.normalise = normalise<V>;
  k.gate = gate<V>;
  k.add = add<V>;
  k.scale = scale<V>;
  k.add_scaled = add_scaled<V>;
  k.to_half = to_half<V>;
  k.attend = attend<V>;
  k.softmax = softmax<V>;
  return k;
}

}  // namespace soffit::cpu

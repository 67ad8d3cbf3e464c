#include "metal/variants.hpp"

#include <algorithm>

// soffit_metal_NAME_plain and _checked come from NAME.metal (cmake/soffit_metal.cmake).
#define SOFFIT_METAL_LIBRARY(name)                                        \
  extern "C" const soffit::lanes::Library* soffit_metal_##name##_plain(); \
  extern "C" const soffit::lanes::Library* soffit_metal_##name##_checked();
SOFFIT_METAL_LIBRARY(linear_q4_k_best)
SOFFIT_METAL_LIBRARY(linear_q4_k_seed)
SOFFIT_METAL_LIBRARY(linear_q5_k_best)
SOFFIT_METAL_LIBRARY(linear_q6_k_best)
SOFFIT_METAL_LIBRARY(linear_q8_0_best)
SOFFIT_METAL_LIBRARY(linear_tq1_0_best)
SOFFIT_METAL_LIBRARY(linear_tq1_0_flat)
SOFFIT_METAL_LIBRARY(linear_tq1_0_regions)
SOFFIT_METAL_LIBRARY(linear_tq2_0_best)
#undef SOFFIT_METAL_LIBRARY

namespace soffit::metal {
namespace {

// What the first write-up tried: simdgroups {1, 2, 4, 8} times rows {1, 2, 4}.
constexpr Tuning kTunings[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {2, 4},
                               {4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 2}, {8, 4}};

#define LINEAR(format, name, about, ...)                                                                             \
  {                                                                                                                  \
    OperationKind::linear, Format::format, #name, "linear_" #format "_" #name, about,                                \
        soffit_metal_linear_##format##_##name##_plain, soffit_metal_linear_##format##_##name##_checked, __VA_ARGS__, \
        kTunings                                                                                                     \
  }

constexpr Variant kVariants[] = {
    LINEAR(q4_k, seed, "the first write-up's: nibbles masked where they stand, sums put right afterwards",
           Terms::products, Tuning{2, 2}),
    LINEAR(q4_k, best, "nibbles as halves of 1024 and something, no conversion", Terms::offsets, Tuning{2, 4}),
    LINEAR(q5_k, best, "as Q4_K, the fifth bits in sums of their own", Terms::offsets, Tuning{2, 4}),
    LINEAR(q6_k, best, "codes put together as halves of 1024 and something, no conversion", Terms::offsets,
           Tuning{2, 4}),
    LINEAR(q8_0, best, "bytes as halves of 1152 and something, no conversion", Terms::offsets, Tuning{2, 4}),
    LINEAR(tq1_0, regions, "32, 16 and 4 bytes, each behind its own condition", Terms::floors, Tuning{2, 4}),
    LINEAR(tq1_0, flat, "the second write-up's: 52 bytes in two passes", Terms::floors, Tuning{2, 4}),
    LINEAR(tq1_0, best, "digits of two bytes at once as halves, no conversion or floor", Terms::offsets, Tuning{2, 4}),
    LINEAR(tq2_0, best, "codes as halves of 1024 and something, no conversion", Terms::offsets, Tuning{2, 4}),
};

#undef LINEAR

}  // namespace

std::span<const Variant> variants() { return kVariants; }

const Variant* find_variant(OperationKind operation, Format format, std::string_view name) {
  const auto found = std::ranges::find_if(
      kVariants, [&](const Variant& v) { return v.operation == operation && v.format == format && v.name == name; });
  return found == std::end(kVariants) ? nullptr : &*found;
}

}  // namespace soffit::metal

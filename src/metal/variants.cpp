#include "metal/variants.hpp"

#include <algorithm>

#define SOFFIT_FORMATS(X) \
  X(q4_k)                 \
  X(q5_k)                 \
  X(q6_k)                 \
  X(q8_0)                 \
  X(iq4_xs) X(iq4_nl) X(q4_0) X(q4_1) X(q5_0) X(q5_1) X(q2_k) X(q3_k) X(mxfp4) X(f32) X(f16) X(bf16) X(tq1_0) X(tq2_0)

// soffit_metal_NAME_plain and _checked come from NAME.metal (cmake/soffit_metal.cmake).
#define SOFFIT_METAL_LIBRARY(name)                                        \
  extern "C" const soffit::lanes::Library* soffit_metal_##name##_plain(); \
  extern "C" const soffit::lanes::Library* soffit_metal_##name##_checked();
#define SOFFIT_FORMAT_LIBRARIES(format)        \
  SOFFIT_METAL_LIBRARY(linear_##format##_best) \
  SOFFIT_METAL_LIBRARY(matrix_##format)
SOFFIT_METAL_LIBRARY(linear_q4_k_seed)
SOFFIT_METAL_LIBRARY(linear_tq1_0_flat)
SOFFIT_METAL_LIBRARY(linear_tq1_0_regions)
SOFFIT_FORMATS(SOFFIT_FORMAT_LIBRARIES)
#undef SOFFIT_FORMAT_LIBRARIES
#undef SOFFIT_METAL_LIBRARY

namespace soffit::metal {
namespace {

// What the first write-up tried: simdgroups {1, 2, 4, 8} times rows {1, 2, 4}.
constexpr Tuning kTunings[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {2, 4},
                               {4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 2}, {8, 4}};

// Eight lanes a row, so that a simdgroup has at least four.
constexpr Tuning kColumnTunings[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 1}, {4, 2}};
constexpr Tuning kTwoRows{2, 2}, kFourRows{2, 4}, kTile{4, 8};
constexpr Tuning kTileTunings[] = {kTile};

#define LIBRARY(name) soffit_metal_##name##_plain, soffit_metal_##name##_checked
#define ENTRY(operation, format, name, kernel, file, about, ...) \
  {OperationKind::operation, Format::format, name, kernel, about, LIBRARY(file), __VA_ARGS__},
#define LINEAR(format, name, about, terms, tuning)                                                                     \
  ENTRY(linear, format, #name, "linear_" #format "_" #name, linear_##format##_##name, about, terms, Division::vectors, \
        tuning, kTunings)
#define COLUMNS(format)                                                                                     \
  ENTRY(linear, format, "columns", "linear_" #format "_columns", matrix_##format,                           \
        "2 to 8 columns: strips of 16 weights, decoded once", Terms::products, Division::columns, kTwoRows, \
        kColumnTunings)
#define TILES(format)                                                         \
  ENTRY(linear, format, "tiles", "linear_" #format "_tiles", matrix_##format, \
        "many columns: tiles of 64 x 32 by simdgroup matrices", Terms::rounded, Division::tiles, kTile, kTileTunings)
#define ID_BEST(format)                                                                                                \
  ENTRY(linear_id, format, "best", "linear_id_" #format "_best", linear_##format##_best,                               \
        "decode: a threadgroup has rows of a slot's expert", best_terms(Format::format), Division::vectors, kFourRows, \
        kTunings)
#define ID_TILES(format)                                                            \
  ENTRY(linear_id, format, "tiles", "linear_id_" #format "_tiles", matrix_##format, \
        "prefill: tiles of the slots of an expert", Terms::rounded, Division::tiles, kTile, kTileTunings)
#define GET_ROWS(format)                                                                                      \
  ENTRY(get_rows, format, "strips", "get_rows_" #format, matrix_##format, "a thread has 16 columns of a row", \
        Terms::products, Division::vectors, kTwoRows, {})

// Kernels that look codes up, or read numbers, add up products alone.
constexpr Terms best_terms(Format format) {
  switch (format) {
    case Format::iq4_xs:
    case Format::iq4_nl:
    case Format::mxfp4:
    case Format::f32:
    case Format::f16:
    case Format::bf16:
      return Terms::products;
    default:
      return Terms::offsets;
  }
}

// clang-format off
constexpr Variant kVariants[] = {
    LINEAR(q4_k, seed, "the first write-up's: nibbles masked where they stand, sums put right afterwards",
           Terms::products, kTwoRows)
    LINEAR(q4_k, best, "nibbles as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q5_k, best, "as Q4_K, the fifth bits in sums of their own", Terms::offsets, kFourRows)
    LINEAR(q6_k, best, "codes put together as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q8_0, best, "bytes as halves of 1152 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(tq1_0, regions, "32, 16 and 4 bytes, each behind its own condition", Terms::floors, kFourRows)
    LINEAR(tq1_0, flat, "the second write-up's: 52 bytes in two passes", Terms::floors, kFourRows)
    LINEAR(tq1_0, best, "digits of two bytes at once as halves, no conversion or floor", Terms::offsets, kFourRows)
    LINEAR(tq2_0, best, "codes as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(iq4_xs, best, "a table of the two values of each byte", Terms::products, kFourRows)
    LINEAR(iq4_nl, best, "a table of the two values of each byte", Terms::products, kFourRows)
    LINEAR(mxfp4, best, "a table of the two values of each byte", Terms::products, kFourRows)
    LINEAR(q4_0, best, "nibbles as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q4_1, best, "nibbles as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q5_0, best, "codes put together as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q5_1, best, "codes put together as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q2_k, best, "codes as halves of 1024 and something, no conversion", Terms::offsets, kFourRows)
    LINEAR(q3_k, best, "as Q2_K, the third bits in sums of their own", Terms::offsets, kFourRows)
    LINEAR(f32, best, "four numbers a lane", Terms::products, kFourRows)
    LINEAR(f16, best, "four numbers a lane", Terms::products, kFourRows)
    LINEAR(bf16, best, "four numbers a lane", Terms::products, kFourRows)
    SOFFIT_FORMATS(COLUMNS)
    SOFFIT_FORMATS(TILES)
    SOFFIT_FORMATS(ID_BEST)
    SOFFIT_FORMATS(ID_TILES)
    SOFFIT_FORMATS(GET_ROWS)
};
// clang-format on

#undef LIBRARY
#undef ENTRY
#undef LINEAR
#undef COLUMNS
#undef TILES
#undef ID_BEST
#undef ID_TILES
#undef GET_ROWS
#undef SOFFIT_FORMATS

}  // namespace

LinearGrid linear_grid(Division division, const Tuning& tuning, uint64_t rows, uint64_t n) {
  const auto groups = [](uint64_t count, uint64_t of) { return uint32_t((count + of - 1) / of); };
  const uint64_t own = uint64_t(tuning.simdgroups) * tuning.rows;
  switch (division) {
    case Division::tiles:
      return {groups(rows, 64), groups(n, 32), 128, 0};
    case Division::columns: {
      const auto batch = uint32_t(std::min<uint64_t>(n, 8));
      return {groups(rows, 4 * own), groups(n, batch), 32 * tuning.simdgroups, batch};
    }
    case Division::vectors:
      break;
  }
  return {groups(rows, own), uint32_t(n), 32 * tuning.simdgroups, 0};
}

std::span<const Variant> variants() { return kVariants; }

const Variant* find_variant(OperationKind operation, Format format, std::string_view name) {
  const auto found = std::ranges::find_if(
      kVariants, [&](const Variant& v) { return v.operation == operation && v.format == format && v.name == name; });
  return found == std::end(kVariants) ? nullptr : &*found;
}

}  // namespace soffit::metal

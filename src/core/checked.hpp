// Arithmetic on sizes that come from a file or a caller: a result that does not fit is nullopt, never a wrap.
#pragma once

#include <cstdint>
#include <optional>

namespace soffit {

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// a rounded up to a multiple of `alignment`, which is a power of two.
inline std::optional<uint64_t> checked_align(uint64_t a, uint64_t alignment) {
  auto r = checked_add(a, alignment - 1);
  if (!r) return std::nullopt;
  return *r & ~(alignment - 1);
}

}  // namespace soffit

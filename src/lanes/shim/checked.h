// Metal as C++ with every operator counted and every access checked. The translator puts sites into the source; see
// site.h.
#pragma once

#define SOFFIT_LANES_MODE checked_mode

// Each needs those before it.
// clang-format off
#include "site.h"
#include "vector.h"
#include "math.h"
#include "exchange.h"
#include "simd.h"
#include "simdgroup_matrix.h"
#include "types.h"
#include "arguments.h"
#include "lane_arguments.h"
#include "scope.h"
// clang-format on

namespace metal {
namespace lanes = soffit::lanes;

inline namespace SOFFIT_LANES_MODE {

// Each function with the place of its call.
#define SOFFIT_METAL_FUNCTION(f)                                                             \
  template <class... T, class... A>                                                          \
  requires(sizeof...(T) == 0) constexpr decltype(auto) f(lanes::At here, A&&... arguments) { \
    lanes::at(here.site);                                                                    \
    return f(lanes::settled(std::forward<A>(arguments))...);                                 \
  }
#include "functions.inc"
#undef SOFFIT_METAL_FUNCTION
template <class T, class A>
auto as_type(lanes::At here, const A& from) {
  lanes::at(here.site);
  return as_type<T>(lanes::settled(from));
}
template <class T, int columns, int rows = columns, class A>
auto make_filled_simdgroup_matrix(lanes::At here, const A& value) {
  lanes::at(here.site);
  return make_filled_simdgroup_matrix<T, columns, rows>(value);
}

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal

// simdgroup_matrix<T, 8, 8>: 64 elements, two a lane. Which lane holds which is nobody's business on a device; here
// lane l holds row l / 4, columns 2 (l mod 4) and the next.
#pragma once

namespace metal {
inline namespace SOFFIT_LANES_MODE {

template <class T, int columns, int rows>
struct simdgroup_matrix {
  static_assert(columns == 8 && rows == 8, "simdgroup matrices are 8 x 8");
  vec<T, 2> element;

  simdgroup_matrix() = default;
  SOFFIT_LANES_CALL explicit simdgroup_matrix(T diagonal) {
    const unsigned l = own_lane();
    for (unsigned i = 0; i < 2; ++i) element[i] = T(l / 4 == 2 * (l % 4) + i ? diagonal : T(0));
  }
  constexpr vec<T, 2>& thread_elements() { return element; }
  constexpr const vec<T, 2>& thread_elements() const { return element; }
};

using simdgroup_float8x8 = simdgroup_matrix<Stored<float>, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<Stored<soffit::lanes::Half>, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<Stored<soffit::lanes::Bfloat>, 8, 8>;

template <class T, int columns, int rows = columns, Number A>
constexpr simdgroup_matrix<T, columns, rows> make_filled_simdgroup_matrix(const A& value) {
  simdgroup_matrix<T, columns, rows> filled;
  for (int i = 0; i < 2; ++i) filled.element[i] = value;
  return filled;
}

struct NoOrigin {
  ::size_t x = 0, y = 0;
  constexpr NoOrigin() = default;
  constexpr NoOrigin(int) {}
  template <class T>
  constexpr NoOrigin(vec<T, 2> at) : x(::size_t(at[0])), y(::size_t(at[1])) {}
};

// Where this lane's element i is: `row` counts in steps of elements_per_row.
SOFFIT_LANES_CALL inline ::size_t element_offset(int i, ::size_t elements_per_row, const NoOrigin& origin,
                                                 bool transposed) {
  const unsigned l = own_lane();
  const ::size_t row = l / 4, column = 2 * (l % 4) + unsigned(i);
  return transposed ? (origin.y + column) * elements_per_row + origin.x + row
                    : (origin.y + row) * elements_per_row + origin.x + column;
}

// All lanes take part, so they meet first: a lane that is elsewhere is a fault.
template <class T, class M>
SOFFIT_LANES_CALL void simdgroup_load(M& to, const T* from, ::size_t elements_per_row = 8, NoOrigin origin = {},
                                      bool transposed = false) {
  meet_simdgroup();
  for (int i = 0; i < 2; ++i) to.element[i] = from[element_offset(i, elements_per_row, origin, transposed)];
}
template <class T, class M>
SOFFIT_LANES_CALL void simdgroup_store(const M& from, T* to, ::size_t elements_per_row = 8, NoOrigin origin = {},
                                       bool transposed = false) {
  meet_simdgroup();
  for (int i = 0; i < 2; ++i) to[element_offset(i, elements_per_row, origin, transposed)] = from.element[i];
}

// Its own two elements of each.
struct MatrixMail {
  float left[2], right[2];
};
// d = a b + c. Sums in fp32; a device leaves their order open.
template <class D, class A, class B, class C>
SOFFIT_LANES_CALL void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                                                     const simdgroup_matrix<B, 8, 8>& b,
                                                     const simdgroup_matrix<C, 8, 8>& c) {
  using NativeD = Native<D>;
  MatrixMail own;
  Flags flags = 0;
  for (int i = 0; i < 2; ++i) {
    own.left[i] = float(soffit::lanes::native_value(a.element[i]));
    own.right[i] = float(soffit::lanes::native_value(b.element[i]));
    flags |= soffit::lanes::flags_of(a.element[i], b.element[i], c.element[i]);
  }
  const auto& box = exchanged(own, flags);
  const unsigned l = own_lane(), row = l / 4;
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned column = 2 * (l % 4) + i;
    float sum = float(soffit::lanes::native_value(c.element[i]));
    for (unsigned k = 0; k < 8; ++k) {
      const MatrixMail left = mail_of<MatrixMail>(box, 4 * row + k / 2),
                       right = mail_of<MatrixMail>(box, 4 * k + column / 2);
      sum = std::fma(left.left[k % 2], right.right[column % 2], sum);
    }
    const Flags all = flags | all_flags(box);
    d.element[i] = soffit::lanes::with_flags(soffit::lanes::converted<NativeD>(sum), all);
  }
  soffit::lanes::count(Cost::floating, 2 * 8, flags);
}
template <class D, class A, class B>
SOFFIT_LANES_CALL void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                                          const simdgroup_matrix<B, 8, 8>& b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8>(0.0f));
}

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal

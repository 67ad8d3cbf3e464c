// What the lanes of a simdgroup do together, in terms of what a mode's exchange.h says: barriers; exchanged(), which
// hands every lane's value to all; own_lane(). SOFFIT_LANES_CALL stands before what only a lane can call.
#pragma once

namespace metal {
inline namespace SOFFIT_LANES_MODE {

// All lanes' values into one. Pairs of lanes half the group apart first, as shuffles by 16, 8, 4, 2 and 1 would add
// them; Metal leaves the order open.
template <class T, class Box, class F>
SOFFIT_LANES_CALL T combined(const Box& box, F&& f) {
  T values[kLanes];
  bool there[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    there[i] = box.present >> i & 1;
    if (there[i]) values[i] = mail_of<T>(box, i);
  }
  for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
    for (unsigned i = 0; i < distance; ++i) {
      if (there[i] && there[i + distance]) values[i] = f(values[i], values[i + distance]);
      if (!there[i] && there[i + distance]) values[i] = values[i + distance];
      there[i] |= there[i + distance];
    }
  }
  return values[0];
}

#define SOFFIT_LANES_BY_ELEMENT(name)                        \
  template <class A, int n>                                  \
  SOFFIT_LANES_CALL auto name(vec<A, n> a) {                 \
    return by_element<n>([&](int i) { return name(a[i]); }); \
  }
#define SOFFIT_REDUCTION(name, expression)                                                                  \
  template <Number A>                                                                                       \
  SOFFIT_LANES_CALL auto name(const A& a) {                                                                 \
    using T = Native<A>;                                                                                    \
    const auto& box = exchanged(T(soffit::lanes::native_value(a)), soffit::lanes::flags_of(a));             \
    return computed_once<T>(box, [&] { return combined<T>(box, [](T x, T y) { return T(expression); }); }); \
  }                                                                                                         \
  SOFFIT_LANES_BY_ELEMENT(name)
SOFFIT_REDUCTION(simd_sum, x + y)
SOFFIT_REDUCTION(simd_product, x* y)
SOFFIT_REDUCTION(simd_max, y > x ? y : x)
SOFFIT_REDUCTION(simd_min, y < x ? y : x)
SOFFIT_REDUCTION(simd_and, x& y)
SOFFIT_REDUCTION(simd_or, x | y)
SOFFIT_REDUCTION(simd_xor, x ^ y)
#undef SOFFIT_REDUCTION

// The value of the lane that `source` computes from this lane's number; this lane's own where there is none.
template <Number A, class F>
SOFFIT_LANES_CALL auto shuffled(const A& a, F&& source) {
  using T = Native<A>;
  const auto& box = exchanged(T(soffit::lanes::native_value(a)), soffit::lanes::flags_of(a));
  const unsigned self = own_lane(), wanted = source(self);
  const unsigned from = wanted < kLanes && (box.present >> wanted & 1) ? wanted : self;
  return soffit::lanes::with_flags(mail_of<T>(box, from), mail_flags(box, from));
}

#define SOFFIT_SHUFFLE(name, expression)                                       \
  template <Number A, Number B>                                                \
  SOFFIT_LANES_CALL auto name(const A& a, const B& by) {                       \
    const auto n = unsigned(soffit::lanes::native_value(by));                  \
    return shuffled(a, [n](unsigned self) -> unsigned { return expression; }); \
  }                                                                            \
  template <class A, int count, Number B>                                      \
  SOFFIT_LANES_CALL auto name(vec<A, count> a, const B& by) {                  \
    return by_element<count>([&](int i) { return name(a[i], by); });           \
  }
SOFFIT_SHUFFLE(simd_shuffle, (void(self), n))
SOFFIT_SHUFFLE(simd_broadcast, (void(self), n))
SOFFIT_SHUFFLE(simd_shuffle_xor, self ^ n)
SOFFIT_SHUFFLE(simd_shuffle_down, self + n)
SOFFIT_SHUFFLE(simd_shuffle_up, self - n)
SOFFIT_SHUFFLE(simd_shuffle_rotate_down, (self + n) % kLanes)
SOFFIT_SHUFFLE(simd_shuffle_rotate_up, (self - n) % kLanes)
SOFFIT_SHUFFLE(quad_shuffle, (self & ~3u) + n % 4)
SOFFIT_SHUFFLE(quad_broadcast, (self & ~3u) + n % 4)
SOFFIT_SHUFFLE(quad_shuffle_xor, self ^ (n & 3))
SOFFIT_SHUFFLE(quad_shuffle_down, (self & 3) + n < 4 ? self + n : self)
SOFFIT_SHUFFLE(quad_shuffle_up, (self & 3) >= n ? self - n : self)
#undef SOFFIT_SHUFFLE

template <Number A>
SOFFIT_LANES_CALL auto quad_sum(const A& a) {
  const auto half = a + quad_shuffle_xor(a, 1);
  return half + quad_shuffle_xor(half, 2);
}
template <Number A>
SOFFIT_LANES_CALL auto quad_max(const A& a) {
  const auto half = max(a, quad_shuffle_xor(a, 1));
  return max(half, quad_shuffle_xor(half, 2));
}
template <Number A>
SOFFIT_LANES_CALL auto quad_min(const A& a) {
  const auto half = min(a, quad_shuffle_xor(a, 1));
  return min(half, quad_shuffle_xor(half, 2));
}

template <Number A>
SOFFIT_LANES_CALL auto simd_broadcast_first(const A& a) {
  using T = Native<A>;
  const auto& box = exchanged(T(soffit::lanes::native_value(a)), soffit::lanes::flags_of(a));
  const unsigned first = unsigned(std::countr_zero(box.present));
  return soffit::lanes::with_flags(mail_of<T>(box, first), mail_flags(box, first));
}
SOFFIT_LANES_BY_ELEMENT(simd_broadcast_first)
#undef SOFFIT_LANES_BY_ELEMENT

template <bool inclusive, Number A>
SOFFIT_LANES_CALL auto prefix_sum(const A& a) {
  using T = Native<A>;
  const auto& box = exchanged(T(soffit::lanes::native_value(a)), soffit::lanes::flags_of(a));
  const unsigned self = own_lane();
  T sum(0);
  Flags flags = mail_flags(box, self);
  // All lanes go through all values.
  for (unsigned i = 0; i < kLanes; ++i) {
    if (!(box.present >> i & 1)) continue;
    const T value = mail_of<T>(box, i);
    if (i >= self + inclusive) continue;
    sum = T(sum + value);
    flags |= mail_flags(box, i);
  }
  return soffit::lanes::with_flags(sum, flags);
}
template <Number A>
SOFFIT_LANES_CALL auto simd_prefix_inclusive_sum(const A& a) {
  return prefix_sum<true>(a);
}
template <Number A>
SOFFIT_LANES_CALL auto simd_prefix_exclusive_sum(const A& a) {
  return prefix_sum<false>(a);
}

class simd_vote {
 public:
  using vote_t = ::uint64_t;
  constexpr simd_vote(::uint64_t votes, ::uint32_t present) : votes_(votes), present_(present) {}
  constexpr bool all() const { return votes_ == present_; }
  constexpr bool any() const { return votes_ != 0; }
  constexpr explicit operator ::uint64_t() const { return votes_; }

 private:
  ::uint64_t votes_;
  ::uint32_t present_;
};
template <Number A>
SOFFIT_LANES_CALL simd_vote simd_ballot(const A& a) {
  const auto& box = exchanged(soffit::lanes::native_value(a) != 0, soffit::lanes::flags_of(a));
  ::uint64_t votes = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (box.present >> i & 1) votes |= ::uint64_t(mail_of<bool>(box, i)) << i;
  }
  return {votes, box.present};
}
template <Number A>
SOFFIT_LANES_CALL bool simd_all(const A& a) {
  return simd_ballot(a).all();
}
template <Number A>
SOFFIT_LANES_CALL bool simd_any(const A& a) {
  return simd_ballot(a).any();
}
SOFFIT_LANES_CALL inline bool simd_is_first() {
  return unsigned(std::countr_zero(exchanged(true, soffit::lanes::kIndex).present)) == own_lane();
}

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal

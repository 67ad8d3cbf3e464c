// What the lanes of a simdgroup or threadgroup do together.
#pragma once

namespace metal {
inline namespace SOFFIT_LANES_MODE {

using soffit::lanes::Fence;
using soffit::lanes::Flags;
using soffit::lanes::kLanes;
using soffit::lanes::Mailbox;
using soffit::lanes::Meeting;

enum class mem_flags : unsigned { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(unsigned(a) | unsigned(b)); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(unsigned(a) & unsigned(b)); }

inline void threadgroup_barrier(mem_flags flags) {
  auto& l = soffit::lanes::lane();
  soffit::lanes::count(Cost::collective, 1, soffit::lanes::kData);
  l.hooks->meet(l, Meeting::threadgroup_barrier, Fence(unsigned(flags) & 3), nullptr, 0, 0);
}
inline void simdgroup_barrier(mem_flags flags) {
  auto& l = soffit::lanes::lane();
  soffit::lanes::count(Cost::collective, 1, soffit::lanes::kData);
  l.hooks->meet(l, Meeting::simdgroup_barrier, Fence(unsigned(flags) & 3), nullptr, 0, 0);
}

inline const Mailbox& exchanged(const void* mail, unsigned bytes, Flags flags) {
  auto& l = soffit::lanes::lane();
  soffit::lanes::count(Cost::collective, 1, soffit::lanes::kData);
  return l.hooks->meet(l, Meeting::simd, Fence::none, mail, bytes, flags);
}
template <class T>
T mail_of(const Mailbox& box, unsigned from) {
  T value;
  std::memcpy(&value, box.slots[from].bytes, sizeof value);
  return value;
}

// All lanes' values into one. Pairs of lanes half the group apart first, as shuffles by 16, 8, 4, 2 and 1 would add
// them; Metal leaves the order open. The first lane to come computes for all.
template <class T, class F>
auto reduced(const Mailbox& box, F&& f) {
  auto& shared = const_cast<Mailbox&>(box);
  if (!box.reduced) {
    T values[kLanes];
    bool there[kLanes];
    Flags flags = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      there[i] = box.present >> i & 1;
      if (!there[i]) continue;
      values[i] = mail_of<T>(box, i);
      flags |= box.flags[i];
    }
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
      for (unsigned i = 0; i < distance; ++i) {
        if (there[i] && there[i + distance]) values[i] = f(values[i], values[i + distance]);
        if (!there[i] && there[i + distance]) values[i] = values[i + distance];
        there[i] |= there[i + distance];
      }
    }
    std::memcpy(shared.result, &values[0], sizeof(T));
    shared.result_flags = flags;
    shared.reduced = true;
  }
  T result;
  std::memcpy(&result, box.result, sizeof result);
  return soffit::lanes::with_flags(result, box.result_flags);
}

#define SOFFIT_REDUCTION(name, expression)                                                             \
  template <Number A>                                                                                  \
  auto name(const A& a) {                                                                              \
    using T = Native<A>;                                                                               \
    const T value = soffit::lanes::native_value(a);                                                    \
    const Flags flags = soffit::lanes::flags_of(a);                                                    \
    return reduced<T>(exchanged(&value, sizeof value, flags), [](T x, T y) { return T(expression); }); \
  }                                                                                                    \
  SOFFIT_BY_ELEMENT_1(name)
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
auto shuffled(const A& a, F&& source) {
  using T = Native<A>;
  const T value = soffit::lanes::native_value(a);
  const Mailbox& box = exchanged(&value, sizeof value, soffit::lanes::flags_of(a));
  const unsigned self = soffit::lanes::lane().lane, from = source(self);
  const bool there = from < kLanes && (box.present >> from & 1);
  return soffit::lanes::with_flags(mail_of<T>(box, there ? from : self), box.flags[there ? from : self]);
}

#define SOFFIT_SHUFFLE(name, expression)                                       \
  template <Number A, Number B>                                                \
  auto name(const A& a, const B& by) {                                         \
    const auto n = unsigned(soffit::lanes::native_value(by));                  \
    return shuffled(a, [n](unsigned self) -> unsigned { return expression; }); \
  }                                                                            \
  template <class A, int count, Number B>                                      \
  auto name(vec<A, count> a, const B& by) {                                    \
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
auto quad_sum(const A& a) {
  const auto half = a + quad_shuffle_xor(a, 1);
  return half + quad_shuffle_xor(half, 2);
}
template <Number A>
auto quad_max(const A& a) {
  const auto half = max(a, quad_shuffle_xor(a, 1));
  return max(half, quad_shuffle_xor(half, 2));
}
template <Number A>
auto quad_min(const A& a) {
  const auto half = min(a, quad_shuffle_xor(a, 1));
  return min(half, quad_shuffle_xor(half, 2));
}

template <Number A>
auto simd_broadcast_first(const A& a) {
  using T = Native<A>;
  const T value = soffit::lanes::native_value(a);
  const Mailbox& box = exchanged(&value, sizeof value, soffit::lanes::flags_of(a));
  const unsigned first = unsigned(std::countr_zero(box.present));
  return soffit::lanes::with_flags(mail_of<T>(box, first), box.flags[first]);
}
SOFFIT_BY_ELEMENT_1(simd_broadcast_first)

template <bool inclusive, Number A>
auto prefix_sum(const A& a) {
  using T = Native<A>;
  const T value = soffit::lanes::native_value(a);
  const Mailbox& box = exchanged(&value, sizeof value, soffit::lanes::flags_of(a));
  const unsigned self = soffit::lanes::lane().lane;
  T sum(0);
  Flags flags = box.flags[self];
  for (unsigned i = 0; i < self + inclusive; ++i) {
    if (!(box.present >> i & 1)) continue;
    sum = T(sum + mail_of<T>(box, i));
    flags |= box.flags[i];
  }
  return soffit::lanes::with_flags(sum, flags);
}
template <Number A>
auto simd_prefix_inclusive_sum(const A& a) {
  return prefix_sum<true>(a);
}
template <Number A>
auto simd_prefix_exclusive_sum(const A& a) {
  return prefix_sum<false>(a);
}

class simd_vote {
 public:
  using vote_t = ::uint64_t;
  constexpr simd_vote(::uint64_t votes, ::uint32_t present) : votes_(votes), present_(present) {}
  bool all() const { return votes_ == present_; }
  bool any() const { return votes_ != 0; }
  explicit operator ::uint64_t() const { return votes_; }

 private:
  ::uint64_t votes_;
  ::uint32_t present_;
};
template <Number A>
simd_vote simd_ballot(const A& a) {
  const bool value = soffit::lanes::native_value(a) != 0;
  const Mailbox& box = exchanged(&value, sizeof value, soffit::lanes::flags_of(a));
  ::uint64_t votes = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (box.present >> i & 1) votes |= ::uint64_t(mail_of<bool>(box, i)) << i;
  }
  return {votes, box.present};
}
template <Number A>
bool simd_all(const A& a) {
  return simd_ballot(a).all();
}
template <Number A>
bool simd_any(const A& a) {
  return simd_ballot(a).any();
}
inline bool simd_is_first() {
  const bool value = true;
  return unsigned(std::countr_zero(exchanged(&value, 1, 0).present)) == soffit::lanes::lane().lane;
}

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal

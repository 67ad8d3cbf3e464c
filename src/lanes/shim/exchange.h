// How the lanes of the runner meet: through the hooks of their Lane.
#pragma once

#define SOFFIT_LANES_CALL

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

inline const Mailbox& met(Meeting meeting, Fence fence, const void* mail, unsigned bytes, Flags flags) {
  auto& l = soffit::lanes::lane();
  soffit::lanes::count(soffit::lanes::Cost::collective, 1, soffit::lanes::kData);
  return l.hooks->meet(l, meeting, fence, mail, bytes, flags);
}
inline void threadgroup_barrier(mem_flags flags) {
  met(Meeting::threadgroup_barrier, Fence(unsigned(flags) & 3), nullptr, 0, 0);
}
inline void simdgroup_barrier(mem_flags flags) {
  met(Meeting::simdgroup_barrier, Fence(unsigned(flags) & 3), nullptr, 0, 0);
}

inline unsigned own_lane() { return soffit::lanes::lane().lane; }

inline void meet_simdgroup() { met(Meeting::simd, Fence::none, nullptr, 0, 0); }
template <class T>
const Mailbox& exchanged(const T& value, Flags flags) {
  return met(Meeting::simd, Fence::none, &value, sizeof value, flags);
}
template <class T>
T mail_of(const Mailbox& box, unsigned from) {
  T value;
  std::memcpy(&value, box.slots[from].bytes, sizeof value);
  return value;
}
inline Flags mail_flags(const Mailbox& box, unsigned from) { return box.flags[from]; }
inline Flags all_flags(const Mailbox& box) {
  Flags flags = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (box.present >> i & 1) flags |= box.flags[i];
  }
  return flags;
}

// The first lane to come computes for all.
template <class T, class F>
auto computed_once(const Mailbox& box, F&& compute) {
  auto& shared = const_cast<Mailbox&>(box);
  if (!box.reduced) {
    const T value = compute();
    std::memcpy(shared.result, &value, sizeof value);
    shared.result_flags = all_flags(box);
    shared.reduced = true;
  }
  T result;
  std::memcpy(&result, box.result, sizeof result);
  return soffit::lanes::with_flags(result, box.result_flags);
}

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal

// What kernels need to know of ids before they use them.
#include "metal/arguments.h"

using namespace soffit;

// fault[0] becomes 1 + the place of the first id that is none, or 0. One simdgroup.
kernel void check_ids(constant IdsArguments& arguments [[buffer(0)]], device const int* ids [[buffer(1)]],
                      device uint* fault [[buffer(2)]], ushort lane [[thread_index_in_simdgroup]]) {
  uint first = 0xffffffffu;
  for (uint i = lane; i < arguments.count; i += 32) {
    if (ids[i] < 0 || uint(ids[i]) >= arguments.limit) first = min(first, i);
  }
  first = simd_min(first);
  if (lane == 0) fault[0] = first + 1;
}

// For each expert the slots that have its id, in order: counts[expert] of them at slots[expert * count]. A simdgroup for
// each expert.
kernel void group_slots(constant IdsArguments& arguments [[buffer(0)]], device const int* ids [[buffer(1)]],
                        device uint* counts [[buffer(2)]], device uint* slots [[buffer(3)]],
                        uint expert [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  device uint* own = slots + ulong(expert) * arguments.count;
  uint count = 0;
  for (uint first = 0; first < arguments.count; first += 32) {
    const uint slot = first + lane;
    const uint here = slot < arguments.count && ids[min(slot, arguments.count - 1)] == int(expert) ? 1 : 0;
    const uint before = simd_prefix_exclusive_sum(here);
    if (here) own[count + before] = slot;
    count += simd_sum(here);
  }
  if (lane == 0) counts[expert] = count;
}

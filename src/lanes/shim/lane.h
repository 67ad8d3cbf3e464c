// A lane, as a compiled kernel sees it: where it is, what it has counted, and the ways out into the runner.
//
// Each lane runs on a stack of its own that begins at a multiple of kRegionBytes, so that a kernel finds its lane from
// the address of any local variable: no thread-local storage, and the same in a kernel that was loaded at run time.
//
//   region  0        4096                          kStackBytes           2 kStackBytes
//           | guard  | stack, growing down | Lane  | shadow of the stack |
//
// The shadow has a byte for each byte of the stack: the Flags of the value that lies there.
#pragma once

#include <cstdint>
#include <type_traits>

namespace soffit::lanes {

// Changes with every change of a struct that compiled kernels and the runner share.
inline constexpr uint32_t kInterface = 2;

inline constexpr uintptr_t kStackBytes = 256 * 1024, kRegionBytes = 2 * kStackBytes, kLaneBytes = 256;
inline constexpr uint32_t kLanes = 32;  // of a simdgroup

// What is known of a value.
using Flags = uint8_t;
inline constexpr Flags kIndex = 0;  // computed from positions, arguments and constants alone
inline constexpr Flags kData = 1;   // derived from loaded weights or activations

// What an operator costs, by kind.
enum class Cost : uint8_t { integer, floating, conversion, floor, special, index, load, store, collective };
inline constexpr uint32_t kCosts = 9;

// Slots: lanes issued a cycle and core, against 128 of an fp32 fma (rates of an M1,
// github.com/philipturner/metal-benchmarks).
inline constexpr uint32_t kSlot = 1, kShiftSlots = 4, kMultiplySlots = 4, kConversionSlots = 4, kFloorSlots = 4;
inline constexpr uint32_t kExponentialSlots = 4, kReciprocalSlots = 6, kRootSlots = 8, kSineSlots = 14;

// Values that the lanes of a simdgroup hand to one another.
struct Mail {
  alignas(16) unsigned char bytes[16];
};
struct Mailbox {
  Mail slots[kLanes];
  Flags flags[kLanes];
  uint32_t present;  // bit i: lane i is there
  bool reduced;      // `result` holds what the first lane to ask has computed
  alignas(16) unsigned char result[16];
  Flags result_flags;
};

enum class Meeting : uint8_t { simd, simdgroup_barrier, threadgroup_barrier };
enum class Fence : uint8_t { none = 0, device = 1, threadgroup = 2 };

struct Lane;

struct Hooks {
  // Memory that is not the lane's own stack. What may not be accessed is reported, reads as zeros and stays unwritten.
  Flags (*load)(Lane&, const void* from, uint32_t bytes, uint32_t alignment, void* to);
  void (*store)(Lane&, void* to, uint32_t bytes, uint32_t alignment, const void* from, Flags);
  // The lane enters a function or a loop (`scope`, an index of Library::scopes) from the operator at its site.
  void (*enter)(Lane&, uint32_t scope);
  // All lanes of the simdgroup or threadgroup meet; `mail` is what this lane gives.
  const Mailbox& (*meet)(Lane&, Meeting, Fence, const void* mail, uint32_t bytes, Flags);
  void* (*threadgroup_variable)(Lane&, uint32_t id, uint32_t bytes, uint32_t alignment);
  void (*fault)(Lane&, const char* what);
};

struct Lane {
  const Hooks* hooks;
  uint32_t* counts;           // [base + site][cost]
  uint32_t site, base, node;  // what it is doing; see counters.hpp
  uint32_t simdgroup, lane;   // place in the threadgroup, in the simdgroup
  bool contract;              // a product that is added is not rounded before
  void* runner;
};
static_assert(sizeof(Lane) <= kLaneBytes);

inline Lane& lane() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return *reinterpret_cast<Lane*>((here & ~(kRegionBytes - 1)) + kStackBytes - kLaneBytes);
}

inline bool on_stack(const void* address) {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return ((reinterpret_cast<uintptr_t>(address) ^ here) & ~(kRegionBytes - 1)) == 0;
}
inline Flags* shadow(const void* on_stack) {
  return reinterpret_cast<Flags*>(reinterpret_cast<uintptr_t>(on_stack) + kStackBytes);
}

}  // namespace soffit::lanes

// How the threads of a warp meet. A lane that is elsewhere is undefined here: the runner's lanes find it.
#pragma once

#define SOFFIT_LANES_CALL __device__

namespace metal {
inline namespace SOFFIT_LANES_MODE {

using soffit::lanes::Flags;
using soffit::lanes::kLanes;
static_assert(kLanes == 32, "a simdgroup is a warp");

enum class mem_flags : unsigned { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(unsigned(a) | unsigned(b)); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(unsigned(a) & unsigned(b)); }

// CUDA's barriers order all memory, whatever the flags say.
__device__ inline void threadgroup_barrier(mem_flags) { __syncthreads(); }
__device__ inline void simdgroup_barrier(mem_flags) { __syncwarp(); }

__device__ inline unsigned own_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % kLanes;
}

constexpr uint32_t kWarp = ~uint32_t(0);  // lanes that have ended need not come

template <class T>
struct WarpMail {
  T own;
  uint32_t present;  // bit i: lane i is there
};
// Loads and stores of matrices need none, and __syncwarp would order memory that Metal does not: racecheck is to see
// it.
__device__ inline void meet_simdgroup() {}
template <class T>
__device__ WarpMail<T> exchanged(const T& value, Flags) {
  return {value, __ballot_sync(kWarp, true)};
}
// All lanes ask together, each for whom it wants.
template <class T>
__device__ T mail_of(const WarpMail<T>& mail, unsigned from) {
  uint32_t words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &mail.own, sizeof(T));
  for (uint32_t& word : words) word = __shfl_sync(kWarp, word, int(from));
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}
template <class T>
constexpr Flags mail_flags(const WarpMail<T>&, unsigned) {
  return soffit::lanes::kIndex;
}
template <class T>
constexpr Flags all_flags(const WarpMail<T>&) {
  return soffit::lanes::kIndex;
}
template <class T, class F>
__device__ T computed_once(const WarpMail<T>&, F&& compute) {
  return compute();
}

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal

// Kernels with a fault each, and what they would be without it.
#include <metal_stdlib>
using namespace metal;

kernel void fine(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 threadgroup float* shared [[threadgroup(0)]],
                 uint index [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                 ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const float sum = simd_sum(x[index]);
  if (lane == 0) shared[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float all = 0.0f;
  for (uint i = 0; i < threads / 32; ++i) all += shared[i];
  y[index] = all;
}

kernel void reads_behind(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         uint index [[thread_position_in_threadgroup]]) {
  y[index] = x[index + 1];
}

kernel void reads_before(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         uint index [[thread_position_in_threadgroup]]) {
  y[index] = x[int(index) - 2];
}

kernel void writes_behind(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          uint index [[thread_position_in_threadgroup]]) {
  y[index * 2] = x[index];
}

// Four rows of 16 columns, three for each simdgroup: results are guarded, loads are not.
kernel void unguarded_tail(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                           ushort lane [[thread_index_in_simdgroup]],
                           ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  for (ushort r = 0; r < 3; ++r) {
    const uint row = simdgroup * 3 + r;
    const float sum = simd_sum(lane < 16 ? x[row * 16 + lane] : 0.0f);
    if (lane == 0 && row < 4) y[row] = sum;
  }
}

kernel void shared_out_of_bounds(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                 uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[32];
  shared[index] = x[index];  // of 64 threads
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = shared[index];
}

kernel void no_barrier(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[index] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  shared[index] = x[index];
  y[index] = shared[63 - index];
}

// A barrier that does not say that threadgroup memory matters.
kernel void wrong_fence(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                        uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[index] = x[index];
  threadgroup_barrier(mem_flags::mem_none);
  y[index] = shared[63 - index];
}

// Orders the lanes of a simdgroup; the values come from the other one.
kernel void simdgroup_barrier_for_all(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                      uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[index] = x[index];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = shared[63 - index];
}

kernel void simdgroup_barrier_within(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                     uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[index] = x[index];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = shared[index ^ 31];
}

// Reads, then another lane writes, with no barrier between.
kernel void write_after_read(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                             uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[index] = x[index];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = shared[63 - index];
  shared[index] = 0.0f;
}

// All lanes write one result.
kernel void same_result(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                        uint index [[thread_position_in_threadgroup]]) {
  y[index] = x[index];
  y[0] = 1.0f;
}

kernel void uninitialised(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  if (index < 32) shared[index] = x[index];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = shared[index];
}

kernel void divergent_barrier(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              uint index [[thread_position_in_threadgroup]]) {
  if (index < 40) threadgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = x[index];
}

kernel void divergent_sum(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          uint index [[thread_position_in_threadgroup]]) {
  y[index] = x[index];
  if (index >= 50) return;
  y[index] = simd_sum(x[index]);
}

// Both sides sum, each in a line of its own.
kernel void two_sums(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint index [[thread_position_in_threadgroup]]) {
  float sum;
  if (index % 2) {
    sum = simd_sum(x[index]);
  } else {
    sum = simd_sum(2.0f * x[index]);
  }
  y[index] = sum;
}

// Both sides wait, each in a line of its own.
kernel void two_barriers(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         uint index [[thread_position_in_threadgroup]]) {
  if (index % 2) {
    y[index] = x[index];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else {
    threadgroup_barrier(mem_flags::mem_none);
    y[index] = 2.0f * x[index];
  }
}

kernel void misaligned_vector(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              uint index [[thread_position_in_threadgroup]]) {
  const float4 v = *reinterpret_cast<device const float4*>(x + index % 8);
  y[index] = v.x + v.w;
}

kernel void misaligned_word(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            uint index [[thread_position_in_threadgroup]]) {
  device const uchar* bytes = reinterpret_cast<device const uchar*>(x);
  y[index] = float(*reinterpret_cast<device const uint*>(bytes + index % 2 * 2));
}

kernel void divides_by_zero(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            uint index [[thread_position_in_threadgroup]]) {
  y[index] = x[64 / index % 64];
}

kernel void too_much_memory(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[8193];
  shared[index] = x[index];
  y[index] = shared[index];
}

// The last lane reads behind the end of what all have written.
kernel void reads_behind_shared(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[index] = x[index];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[index] = shared[index + 1];
}

kernel void misaligned_in_threadgroup(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                      uint index [[thread_position_in_threadgroup]]) {
  threadgroup float shared[68];
  shared[index] = x[index];
  if (index < 4) shared[64 + index] = x[index];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float2 v = *reinterpret_cast<threadgroup const float2*>(shared + index);
  y[index] = v.x + v.y;
}

// The barrier orders threadgroup memory; the values go by device memory.
kernel void wrong_fence_for_device(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                   uint index [[thread_position_in_threadgroup]]) {
  y[index] = x[index];
  threadgroup_barrier(mem_flags::mem_none);
  const float other = y[63 - index];
  threadgroup_barrier(mem_flags::mem_device);
  y[index] = other;
}

// Half of a simdgroup sums while the other half waits for all.
kernel void sum_against_barrier(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                uint index [[thread_position_in_threadgroup]]) {
  float sum = x[index];
  if (index % 32 < 16) {
    sum = simd_sum(sum);
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[index] = sum;
}

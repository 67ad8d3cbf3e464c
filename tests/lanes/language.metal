// The constructs that kernels are written with, in the ways in which they are written elsewhere. Every kernel writes what
// it computes where the test can see it; the test knows the numbers.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define WIDTH 32
#define UNROLLED(x) _Pragma("clang loop unroll(full)") for (x)
#define PAIR(a, b) ((a) << 16 | (b))

constant short kGroups [[function_constant(600 + 0)]];
constant bool kFlag [[function_constant(601)]];
constant float kFactor [[function_constant(602)]];
constant bool kHasFlag = is_function_constant_defined(kFlag);
constant int kDerived = kHasFlag ? kGroups * 2 : -1;
constant constexpr int kFixed = WIDTH / 2;
constant float kTable[2][4] = {{1.0f, 2.0f, 3.0f, 4.0f}, {5.0, 6.0, 7.0, 8.0}};

enum Kind { kFirst, kSecond = 5, kThird };
enum class Scoped : uchar { one = 1, two };

typedef struct {
  half d;
  uint8_t qs[2 * 8];
  unsigned short words[2];
} block_like;
static_assert(sizeof(block_like) == 22, "packed like a block");

struct arguments_like {
  int32_t ne00;
  uint64_t nb01;
  float scale;
};

template <typename type4x4>
void spread(device const block_like *xb, short il, thread type4x4 &reg) {
  device const uint16_t *words = (device const uint16_t *)xb->qs;
  const float d = xb->d;
  const ushort mask = il ? 0x00f0 : 0x000f;
  const float scale = il ? d / 16.h : (float)xb->d;
  UNROLLED (int i = 0; i < 8; i++) {
    reg[i / 4][i % 4] = scale * (words[i] & mask);
    reg[2 + i / 4][i % 4] = scale * ((words[i] >> 8) & mask);
  }
}

template <typename block, short NR0, void (*spread_function)(device const block *, short, thread float4x4 &)>
kernel void spreads(constant arguments_like &args [[buffer(0)]], device const char *source [[buffer(1)]],
                    device float *out [[buffer(2)]], ushort tiisg [[thread_index_in_simdgroup]]) {
  device const block *blocks = (device const block *)(source + 0 * args.nb01);
  float sums[NR0] = {0.f};
  for (short row = 0; row < NR0; ++row) {
    float4x4 reg;
    spread_function(blocks + row, tiisg & 1, reg);
    for (short i = 0; i < 4; ++i) sums[row] += dot(reg[i], float4(1.f));
  }
  if (tiisg < 2) {
    for (short row = 0; row < NR0; ++row) out[2 * row + tiisg] = sums[row] * args.scale;
  }
}
typedef decltype(spreads<block_like, 1, spread>) spreads_t;
template [[host_name("spreads_two")]] kernel spreads_t spreads<block_like, 2, spread>;

// A tile of 16 x 8 times 8 x 16 by simdgroup matrices, each of two simdgroups with 8 rows.
kernel void multiplies_tiles(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]],
                             device float *c [[buffer(2)]], threadgroup half *shared [[threadgroup(0)]],
                             ushort index [[thread_index_in_threadgroup]],
                             ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  for (ushort i = index; i < 128; i += 64) {
    shared[i] = a[i];
    shared[128 + i] = b[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_half8x8 left, right[2];
  simdgroup_float8x8 result[2];
  for (int i = 0; i < 2; ++i) result[i] = make_filled_simdgroup_matrix<float, 8>(0.f);
  simdgroup_load(left, shared + 64 * simdgroup, 8);
  simdgroup_load(right[0], shared + 128, 16);
  simdgroup_load(right[1], shared + 128, 16, ulong2(8, 0), false);
  simdgroup_barrier(mem_flags::mem_none);
  for (int i = 0; i < 2; ++i) {
    simdgroup_multiply_accumulate(result[i], left, right[i], result[i]);
    simdgroup_store(result[i], c + 128 * simdgroup + 8 * i, 16, 0, false);
  }
}

kernel void shuffles(device float *out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]],
                     uint lanes [[threads_per_simdgroup]]) {
  const float own = lane;
  out[lane] = simd_shuffle_xor(own, 1u);
  out[32 + lane] = simd_shuffle_down(own, 4);
  out[64 + lane] = simd_broadcast(own * 2.0f, 3);
  out[96 + lane] = simd_prefix_exclusive_sum(1.0f);
  const float2 both = simd_sum(float2(own, 1.0f));
  out[128 + lane] = both.x + both.y;
  out[160 + lane] = simd_max(own) - simd_min(own);
  const simd_vote vote = simd_ballot(lane % 4 == 0);
  out[192 + lane] = float(popcount((uint)(ulong)vote));
  out[224 + lane] = simd_all(lanes == 32) ? quad_sum(own) : -1.0f;
}

kernel void vectors(device const float4 *in [[buffer(0)]], device float *out [[buffer(1)]],
                    device const uchar4 *bytes [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  float4 v = in[0];
  v.xy = v.yx;
  v.zw *= 2.0f;
  const float3 three(v.xyz);
  const half4 narrow = half4(v);
  uchar4 wrapped = bytes[0] + uchar4(1);  // wraps in 8 bits
  const float2x4 columns(float4(1, 2, 3, 4), v);
  const bool4 greater = v > 2.0f;
  out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  out[4] = length(three.xy);
  out[5] = float(narrow.w);
  out[6] = wrapped.x;
  out[7] = columns[1][2];
  out[8] = any(greater) && !all(greater) ? 1.0f : 0.0f;
  out[9] = as_type<float>(as_type<uint>(v.x) ^ 0x80000000u);
  out[10] = select(v, float4(9.0f), greater).w;
  out[11] = clamp(v, 1.5f, 3.0f).y + fma(v.x, v.y, v.z) + mix(v.x, v.y, 0.5f);
  out[12] = float(as_type<half2>(0x3c004000u).x) + (float)as_type<half2>(0x3c004000u).y;
  out[13] = reverse_bits(1u) == 0x80000000u && clz(1) == 31 && extract_bits(0xabcdu, 4, 8) == 0xbc ? 1 : 0;
  packed_float3 packed = three;
  out[14] = packed[0] + float3(packed).y;
  out[15] = sizeof(packed_float3) == 12 && sizeof(float3) == 16 && alignof(half4) == 8 ? 1 : 0;
}

inline int recursive_looking(int n, thread int &calls) {
  calls++;
  do {
    n--;
  } while (n > 3);
  return n;
}

kernel void statements(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  int calls = 0, total = 0;
  switch (i) {
    case kFirst:
      total = 10;
      break;
    case 1:
    case 2: total = 20; break;
    case kSecond: {
      int inner = 50;
      total = inner;
      break;
    }
    default:
      total = -1;
  }
  if (i == 3) total = recursive_looking(9, calls);
  else if (i == 4)
    for (int k = 0; k < 10; k++)
      if (k % 2) continue;
      else total += k;
  int n = 0;
  while (true) {
    if (++n > 4) break;
  }
  thread int *where = i % 2 ? &calls : &total;
  *where += 1;
  const short two = short(Scoped::two);
  total += i >= 2 && i < 4 ? two : (i == 0 ? -two : 0);
  uint bits = PAIR(i, 7u);
  bits ^= bits >> 16, bits |= 1u << 31;
  out[4 * i] = total;
  out[4 * i + 1] = calls + n * 100;
  out[4 * i + 2] = int(bits & ~(1u << 31));
  out[4 * i + 3] = int(kTable[i & 1][i / 2 & 3]) * kFixed;
}

kernel void constants(device float *out [[buffer(0)]]) {
  out[0] = kGroups;
  out[1] = kHasFlag ? float(kFlag) : -1.0f;
  out[2] = kDerived;
  out[3] = kFactor * 2;
  float sums[kFixed];
  for (short k = 0; k < kGroups; ++k) sums[k] = 1.0h / 2;
  out[4] = sums[0] + sums[kGroups - 1];
  out[5] = INFINITY > FLT_MAX && M_PI_F > 3.14f && 0x1p-1f == .5 ? 1 : 0;
}

// half and bfloat round as the device does.
kernel void rounds(device const half *in [[buffer(0)]], device half *out [[buffer(1)]],
                   device bfloat *wide [[buffer(2)]]) {
  const half a = in[0], b = in[1];
  out[0] = a + b;
  out[1] = a * b;
  out[2] = half(float(a) * float(b) * 100000.0f);
  out[3] = fma(a, b, in[2]);
  wide[0] = bfloat(float(a) + 1.0f / 512);
}

[[max_total_threads_per_threadgroup(64)]] kernel void positions(
    device uint *out [[buffer(0)]], uint3 grid [[thread_position_in_grid]],
    ushort2 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
    uint2 in_group [[thread_position_in_threadgroup]], ushort3 threads [[threads_per_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint flat = (grid.y * groups.x * threads.x + grid.x) * 4;
  out[flat] = group.x + 100 * group.y;
  out[flat + 1] = in_group.x + 100 * in_group.y;
  out[flat + 2] = simdgroups;
  out[flat + 3] = grid.z;
}

// Tables and static members in namespaces; threadgroup memory whose size is computed.
namespace outer {
constant uchar kNumbers[4] = {3, 1, 4, 1};
template <typename T>
constexpr ushort twice() {
  return 2 * sizeof(T);
}
struct Sum {
  static uint of(uint lane) { return kNumbers[lane % 4] + 10 * lane; }
};
}  // namespace outer

kernel void shares(device uint *out [[buffer(0)]], ushort lane [[thread_index_in_simdgroup]]) {
  threadgroup uint shared[outer::twice<uint4>()];
  shared[lane] = outer::Sum::of(lane);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[lane] = shared[31 - lane];
}

// Functions for objects in thread memory, as MLX writes them.
struct Walker {
  const device int *at;
  const short step;
  METAL_FUNC Walker(const device int *from, short by) : at(from), step(by) {}
  METAL_FUNC int value() const thread { return at[0]; }
  METAL_FUNC void next() thread { at += step; }
};
[[kernel, max_total_threads_per_threadgroup(32)]] void walks(const device int *in [[buffer(0)]],
                                                             device int *out [[buffer(1)]],
                                                             uint i [[thread_position_in_grid]]) {
  Walker walker(in + i, 32);
  int sum = walker.value();
  walker.next();
  sum += walker.value();
  out[i] = sum;
}

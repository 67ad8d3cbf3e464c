// The experts of a token: softmax over the logits, of which only the `used` largest are kept and divided by their sum, so that
// the exponentials of these alone are needed. A simdgroup for each token; ties go to the lower id.
#include "metal/graph_arguments.h"

using namespace soffit;

kernel void route(constant RouteArguments& arguments [[buffer(0)]], device const float* logits [[buffer(1)]],
                  device int* ids [[buffer(2)]], device float* weights [[buffer(3)]],
                  uint row [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  device const float* from = logits + row * arguments.logits_stride;
  uint taken = 0;  // of the lane's experts lane, lane + 32, …, a bit for each
  float own_logit = -INFINITY, largest = 0.0f;
  uint own_id = 0;
  for (uint place = 0; place < arguments.used; ++place) {
    float best = -INFINITY;
    uint id = 0xffffffffu;
    for (uint k = 0; lane + 32 * k < arguments.experts; ++k) {
      const float logit = from[lane + 32 * k];
      if ((taken >> k & 1) == 0 && (id == 0xffffffffu || logit > best)) {
        best = logit;
        id = lane + 32 * k;
      }
    }
    const float most = simd_max(id == 0xffffffffu ? -INFINITY : best);
    const uint chosen = simd_min(id != 0xffffffffu && best == most ? id : 0xffffffffu);
    if (chosen % 32 == lane) taken |= 1u << chosen / 32;
    if (place == 0) largest = most;
    if (place == lane) {
      own_logit = most;
      own_id = chosen;
    }
  }
  const bool has = lane < arguments.used;
  const float weight = has ? exp(own_logit - largest) : 0.0f;
  const float sum = simd_sum(weight);
  if (has) {
    ids[row * arguments.ids_stride + lane] = int(own_id);
    weights[row * arguments.weights_stride + lane] = weight / sum * arguments.scale;
  }
}

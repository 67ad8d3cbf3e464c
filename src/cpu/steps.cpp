// What stands around the matrices in a model's graph.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/plan.hpp"
#include "cpu/prepared.hpp"
#include "cpu/views.hpp"
#include "ops/rope.hpp"

namespace soffit::cpu {
namespace {

Result<const CpuActivations*> activations(const Activations* a) {
  const auto* mine = dynamic_cast<const CpuActivations*>(a);
  if (a && !mine) return invalid_argument("activations of another backend");
  return mine;
}

Result<Step> make(const StepContext& c, const RmsNorm& o) {
  SOFFIT_TRY(const CpuActivations* prepared, activations(o.prepared));
  Step step;
  step.scratch = uint64_t(o.x.cols) * sizeof(float);
  step.run = [o, prepared, k = &c.kernels](Member& m) {
    for_rows(m, o.x.rows, [&](int64_t i) {
      const float* x = row_of<float>(o.x, i);
      const auto mean = float(k->sum_squares(x, o.x.cols) / double(o.x.cols));
      float* y = o.y.empty() ? reinterpret_cast<float*>(m.scratch) : row_of<float>(o.y, i);
      k->normalise(x, 1.0f / std::sqrt(mean + o.epsilon), row_of<float>(o.weight, 0),
                   o.residual.empty() ? nullptr : row_of<float>(o.residual, i), y, o.x.cols);
      if (prepared) prepared->prepare(*k, y, 0, o.x.cols, i, o.x.rows);
    });
  };
  return step;
}

Result<Step> make(const StepContext& c, const Rotate& o) {
  Step step;
  const int64_t pairs = o.rope.dimensions / 2;
  step.scratch = uint64_t(2 * pairs) * sizeof(float);
  step.run = [o, pairs, k = &c.kernels](Member& m) {
    auto* cosine = reinterpret_cast<float*>(m.scratch);
    const float* factors = o.rope.frequency_factors.empty() ? nullptr : row_of<float>(o.rope.frequency_factors, 0);
    const int64_t heads = o.x.cols / o.head_dim;
    int64_t angles_of = -1;
    for_rows(m, o.x.rows * heads, [&](int64_t u) {
      const int64_t row = u / heads;
      float* head = row_of<float>(o.x, row) + u % heads * o.head_dim;
      if (!o.norm.empty()) {
        const auto mean = float(k->sum_squares(head, o.head_dim) / double(o.head_dim));
        k->normalise(head, 1.0f / std::sqrt(mean + o.epsilon), row_of<float>(o.norm, 0), nullptr, head, o.head_dim);
      }
      if (pairs == 0) return;
      if (row != angles_of) rope_angles(o.rope, factors, row_of<int32_t>(o.positions, 0)[row], cosine, cosine + pairs);
      angles_of = row;
      rotate_head(o.rope, cosine, cosine + pairs, head);
    });
  };
  return step;
}

Result<Step> make(const StepContext& c, const GatedActivation& o) {
  SOFFIT_TRY(const CpuActivations* prepared, activations(o.prepared));
  if (o.activation == Activation::none) return invalid_argument("gated_activation: no activation");
  Step step;
  step.scratch = kBlockColumns * sizeof(float);
  step.run = [o, prepared, k = &c.kernels](Member& m) {
    const int64_t blocks = (o.gate.cols + kBlockColumns - 1) / kBlockColumns;
    for_rows(m, o.gate.rows * blocks, [&](int64_t u) {
      const int64_t row = u / blocks, first = u % blocks * kBlockColumns,
                    count = std::min(kBlockColumns, o.gate.cols - first);
      float* y = o.y.empty() ? reinterpret_cast<float*>(m.scratch) : row_of<float>(o.y, row) + first;
      k->gate(o.activation, row_of<float>(o.gate, row) + first, row_of<float>(o.up, row) + first, y, count);
      if (prepared) prepared->prepare(*k, y, first, count, row, o.gate.rows);
    });
  };
  return step;
}

Result<Step> make(const StepContext& c, const Route& o) {
  Step step;
  step.scratch = uint64_t(o.logits.cols) * sizeof(float);
  step.run = [o, k = &c.kernels](Member& m) {
    for_rows(m, o.logits.rows, [&](int64_t i) {
      auto* p = reinterpret_cast<float*>(m.scratch);
      const int64_t experts = o.logits.cols, used = o.ids.cols;
      std::memcpy(p, row_of<float>(o.logits, i), size_t(experts) * sizeof(float));
      k->softmax(p, experts);
      auto* ids = row_of<int32_t>(o.ids, i);
      auto* weights = row_of<float>(o.weights, i);
      float sum = 0;
      for (int64_t j = 0; j < used; ++j) {
        int64_t best = -1;
        for (int64_t e = 0; e < experts; ++e)
          if (p[e] >= 0 && (best < 0 || p[e] > p[best])) best = e;
        if (best < 0)
          return m.plan.fail(invalid_argument("route: the logits of row " + std::to_string(i) + " are not finite"));
        ids[j] = int32_t(best);
        weights[j] = p[best];
        sum += p[best];
        p[best] = -1;
      }
      const float factor = o.scale / std::max(sum, 6.103515625e-5f);
      for (int64_t j = 0; j < used; ++j) weights[j] *= factor;
    });
  };
  return step;
}

Result<Step> make(const StepContext& c, const Combine& o) {
  Step step;
  step.run = [o, k = &c.kernels](Member& m) {
    const int64_t blocks = (o.y.cols + kBlockColumns - 1) / kBlockColumns, used = o.weights.cols;
    for_rows(m, o.y.rows * blocks, [&](int64_t u) {
      const int64_t row = u / blocks, first = u % blocks * kBlockColumns,
                    count = std::min(kBlockColumns, o.y.cols - first);
      float* y = row_of<float>(o.y, row) + first;
      if (o.residual.empty())
        std::memset(y, 0, size_t(count) * sizeof(float));
      else if (const float* r = row_of<float>(o.residual, row) + first; r != y)
        std::memcpy(y, r, size_t(count) * sizeof(float));
      for (int64_t j = 0; j < used; ++j)
        k->add_scaled(row_of<float>(o.x, row * used + j) + first, row_of<float>(o.weights, row)[j], y, count);
    });
  };
  return step;
}

Result<Step> make(const StepContext&, const Gather& o) {
  Step step;
  step.run = [o](Member& m) {
    for_rows(m, o.y.rows, [&](int64_t i) {
      const int32_t id = row_of<int32_t>(o.ids, 0)[i];
      if (id < 0 || id >= o.x.rows)
        return m.plan.fail(invalid_argument("gather: row " + std::to_string(id) + " of " + std::to_string(o.x.rows)));
      std::memcpy(row_of<float>(o.y, i), row_of<float>(o.x, id), size_t(o.y.cols) * sizeof(float));
    });
  };
  return step;
}

// y = f(row) for each row, in ranges of 256 columns.
template <class F>
Result<Step> elementwise(const ArrayView& y, F f) {
  Step step;
  step.run = [y, f](Member& m) {
    const int64_t blocks = (y.cols + kBlockColumns - 1) / kBlockColumns;
    for_rows(m, y.rows * blocks, [&](int64_t u) {
      const int64_t row = u / blocks, first = u % blocks * kBlockColumns;
      f(row, first, std::min(kBlockColumns, y.cols - first));
    });
  };
  return step;
}

Result<Step> make(const StepContext& c, const Add& o) {
  return elementwise(o.y, [o, k = &c.kernels](int64_t row, int64_t first, int64_t count) {
    k->add(row_of<float>(o.a, row) + first, row_of<float>(o.b, row) + first, row_of<float>(o.y, row) + first, count);
  });
}
Result<Step> make(const StepContext& c, const Scale& o) {
  return elementwise(o.y, [o, k = &c.kernels](int64_t row, int64_t first, int64_t count) {
    k->scale(row_of<float>(o.x, row) + first, o.factor, row_of<float>(o.y, row) + first, count);
  });
}
Result<Step> make(const StepContext&, const SoftCap& o) {
  return elementwise(o.y, [o](int64_t row, int64_t first, int64_t count) {
    const float* x = row_of<float>(o.x, row) + first;
    float* y = row_of<float>(o.y, row) + first;
    for (int64_t i = 0; i < count; ++i) y[i] = o.cap * std::tanh(x[i] / o.cap);
  });
}

// One device: nothing to add.
Result<Step> make(const StepContext&, const AllReduce&) {
  Step step;
  step.run = [](Member&) {};
  return step;
}

Result<Step> make(const StepContext& c, const Linear& o) { return make_linear(c, o); }
Result<Step> make(const StepContext& c, const LinearId& o) { return make_linear_id(c, o); }
Result<Step> make(const StepContext& c, const GetRows& o) { return make_get_rows(c, o); }
Result<Step> make(const StepContext& c, const Prepare& o) { return make_prepare(c, o); }
Result<Step> make(const StepContext& c, const AppendKeyValue& o) { return make_append_key_value(c, o); }
Result<Step> make(const StepContext& c, const Attention& o) { return make_attention(c, o); }
Result<Step> make(const StepContext&, const ShortConvolution& o) { return make_short_convolution(o); }
Result<Step> make(const StepContext&, const GatedDeltaRule& o) { return make_gated_delta_rule(o); }

}  // namespace

Result<Step> make_step(const StepContext& context, const Operation& operation) {
  return std::visit([&](const auto& o) { return make(context, o); }, operation.value);
}

}  // namespace soffit::cpu

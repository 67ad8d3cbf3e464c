// Translates operations to dispatches of a MetalPlan.
#pragma once

#include <cstring>
#include <type_traits>

#include "core/concat.hpp"
#include "metal/graph_arguments.h"
#include "metal/plan.hpp"
#include "metal/variants.hpp"
#include "metal/weights.hpp"

namespace soffit::metal {

class Recorder {
 public:
  static Result<Recorder> create(MetalPlan& plan, Device& device, std::span<const Operation> operations);
  // The next dispatch waits for all before it.
  void barrier() { barrier_ = true; }
  Status record(const Operation& operation);

 private:
  Recorder(MetalPlan& plan, Device& device) : plan_(plan), device_(device) {}
  Status one(const Linear& o);
  Status one(const LinearId& o);
  Status one(const GetRows& o);
  Status one(const Prepare& o);
  Status one(const RmsNorm& o);
  Status one(const Rotate& o);
  Status one(const AppendKeyValue& o);
  Status one(const Attention& o);
  Status one(const GatedActivation& o);
  Status one(const Route& o);
  Status one(const Combine& o);
  Status one(const Gather& o);
  Status one(const Add& o);
  Status one(const Scale& o);
  Status one(const SoftCap& o);
  Status one(const AllReduce& o);
  Status one(const ShortConvolution& o);
  Status one(const GatedDeltaRule& o);

  Status unary(const char* kernel, const ArrayView& x, const ArrayView& y, float factor);

  // ---- dispatches ----
  template <class Arguments>
  Status dispatch(const std::string& kernel, const Arguments& arguments, std::vector<Binding> buffers, Size grid,
                  uint32_t threads = 32, const std::vector<FunctionConstant>& constants = {}) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    Dispatch d;
    SOFFIT_TRY(d.pipeline, device_.pipeline(kernel, constants));
    d.arguments.resize(sizeof arguments);
    std::memcpy(d.arguments.data(), &arguments, sizeof arguments);
    d.buffers = std::move(buffers);
    d.grid = grid;
    d.threads = threads;
    d.barrier = std::exchange(barrier_, false);
    plan_.statistics_.barriers += d.barrier;
    plan_.dispatches_.push_back(std::move(d));
    return {};
  }
  // A thread for each element of (rows, cols).
  template <class Arguments>
  Status dispatch_elements(const std::string& kernel, const Arguments& arguments, std::vector<Binding> buffers,
                           int64_t rows, int64_t cols) {
    constexpr uint32_t kThreads = 64;
    return dispatch(kernel, arguments, std::move(buffers),
                    {uint32_t((cols + kThreads - 1) / kThreads), uint32_t(rows), 1}, kThreads);
  }

  // ---- buffers ----
  Result<Binding> bind(const ArrayView& view) const;
  // Something for a kernel's parameter that it does not use.
  Result<Binding> bind_or(const ArrayView& view, const Binding& other) const {
    if (view.empty()) return other;
    return bind(view);
  }
  static Binding whole(const DeviceBuffer& buffer) { return {&buffer, 0, buffer.bytes()}; }
  Result<const MetalActivations*> activations(const Activations* a) const;
  static Binding rows_of(const MetalActivations& a, int64_t rows) {
    return {&a.device(), 0, uint64_t(rows * a.cols()) * sizeof(float)};
  }
  // Memory of the plan's own.
  Result<const DeviceBuffer*> own(uint64_t bytes);

  // Ids below `limit`, row after row without gaps: a check on the device, of which `error` makes a message.
  Status check_ids(const ArrayView& ids, int64_t limit, std::function<Error(int64_t place, int32_t id)> error);

  // Where a product's results go: to y, or to the workspace until they are finished.
  struct Target {
    Binding y;
    uint64_t stride;
    bool direct;
  };
  Result<Target> target(int64_t product_rows, const ArrayView& y, const Epilogue& epilogue);
  Status finish(int64_t product_rows, const ArrayView& y, const Epilogue& epilogue, const Target& target);
  Result<const MetalWeights*> weights(const Weights* w) const;
  static Result<const Variant*> variant_for(OperationKind operation, Format format, int64_t n);

  MetalPlan& plan_;
  Device& device_;
  bool barrier_ = false;
};

}  // namespace soffit::metal

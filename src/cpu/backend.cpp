#include "cpu/backend.hpp"

#include "core/topology.hpp"
#include "cpu/kernel_table.hpp"
#include "cpu/plan.hpp"
#include "cpu/prepared.hpp"
#include "cpu/state.hpp"
#include "cpu/weights.hpp"

namespace soffit::cpu {

Status available() { return {}; }

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const auto& e : isas()) {
    std::string reason = e.reason;
    if (e.available && !kernels_for(e.isa)) reason = "this build has no kernels for it";
    sets.push_back({e.name, std::move(reason)});
  }
  return sets;
}

Result<std::unique_ptr<Backend>> create(const BackendOptions& options) {
  SOFFIT_TRY(const Isa isa, find_isa(options.isa));
  const VectorKernels* kernels = kernels_for(isa);
  if (!kernels) return unsupported("instruction set '" + options.isa + "' has no kernels in this build");
  if (options.device != 0)
    return unsupported("device " + std::to_string(options.device) + ": the cpu backend has device 0 only");
  if (options.threads < 0) return invalid_argument("threads: " + std::to_string(options.threads));
  auto executor = options.executor;
  if (executor && executor->threads() < 1)
    return invalid_argument("an executor of " + std::to_string(executor->threads()) + " threads");
  if (executor && options.threads && options.threads != executor->threads())
    return invalid_argument(std::to_string(options.threads) + " threads on an executor of " +
                            std::to_string(executor->threads()));
  if (!executor) {
    SOFFIT_TRY(executor, own_threads(options.threads ? options.threads : default_threads()));
  }
  auto team = std::make_unique<Team>(std::move(executor));
  return std::unique_ptr<Backend>(std::make_unique<CpuBackend>(*kernels, std::move(team), options.exact));
}

Support CpuBackend::supports(OperationKind operation, Format format, const Shape& shape) const {
  const std::string name = std::string(to_string(operation)) + "_" + std::string(info(format).name);
  switch (operation) {
    case OperationKind::linear:
    case OperationKind::linear_id:
    case OperationKind::get_rows: {
      const MatrixDescription matrix{format, shape.rows, shape.cols, shape.experts};
      if (auto bytes = matrix_bytes(matrix); !bytes) return {"", bytes.error().message};
      const LinearKernel k = kernels_.linear(format);
      if (!k.run) return {"", "no kernel for format " + std::string(info(format).name)};
      if (operation == OperationKind::get_rows) return {name, ""};
      const std::string variant = exact_ ? "_exact" : k.tile_bytes && shape.n > kColumnsTokens ? "_panel" : "";
      const int block = exact_ ? 0 : activation_block(k.form);
      return {name + (k.tile_bytes ? "_x16" : "") + variant, "", block};
    }
    default:
      return {std::string(to_string(operation)), ""};
  }
}

Result<std::unique_ptr<Weights>> CpuBackend::new_weights(std::span<const MatrixDescription> parts, Layout layout) {
  return CpuWeights::create(parts, layout, kernels_, *team_);
}
Result<std::unique_ptr<Activations>> CpuBackend::new_activations(int64_t max_rows, int64_t cols,
                                                                 std::span<const Weights* const> readers) {
  return CpuActivations::create(max_rows, cols, readers, exact_);
}
Result<std::unique_ptr<State>> CpuBackend::new_state(const StateDescription& description) {
  return CpuState::create(description);
}
Result<std::unique_ptr<Plan>> CpuBackend::plan(std::span<const Operation> operations, const PlanOptions& options) {
  return CpuPlan::create(*this, operations, options);
}

}  // namespace soffit::cpu

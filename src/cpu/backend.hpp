// The CPU backend.
#pragma once

#include "core/threads.hpp"
#include "cpu/kernels.hpp"
#include "cpu/memory.hpp"
#include "soffit/backend.hpp"

namespace soffit::cpu {

Status available();
std::vector<InstructionSet> instruction_sets();
Result<std::unique_ptr<Backend>> create(const BackendOptions& options);

class CpuBackend final : public Backend {
 public:
  CpuBackend(const VectorKernels& kernels, std::unique_ptr<Team> team, bool exact)
      : kernels_(kernels), team_(std::move(team)), exact_(exact) {}

  std::string_view name() const override { return "cpu"; }
  std::string_view isa() const override { return to_string(kernels_.isa); }
  int threads() const override { return team_->size(); }
  Support supports(OperationKind operation, Format format, const Shape& shape) const override;
  Result<std::unique_ptr<Buffer>> new_buffer(uint64_t size) override { return CpuBuffer::create(size); }
  Result<std::unique_ptr<Buffer>> wrap(void* memory, uint64_t size, std::shared_ptr<const void> owner) override {
    return CpuBuffer::wrap(memory, size, std::move(owner));
  }
  Result<std::unique_ptr<Weights>> new_weights(std::span<const MatrixDescription> parts, Layout layout) override;
  Result<std::unique_ptr<Activations>> new_activations(int64_t max_rows, int64_t cols,
                                                       std::span<const Weights* const> readers) override;
  Result<std::unique_ptr<State>> new_state(const StateDescription& description) override;
  Result<std::unique_ptr<Plan>> plan(std::span<const Operation> operations, const PlanOptions& options) override;

  const VectorKernels& kernels() const { return kernels_; }
  bool exact() const { return exact_; }
  Team& team() { return *team_; }

 private:
  const VectorKernels& kernels_;
  std::unique_ptr<Team> team_;
  const bool exact_;
};

}  // namespace soffit::cpu

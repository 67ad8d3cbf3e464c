// What a model remembers, in the CPU backend's memory.
#pragma once

#include "cpu/memory.hpp"
#include "ops/host_state.hpp"

namespace soffit::cpu {

class CpuState final : public HostState {
 public:
  static Result<std::unique_ptr<State>> create(const StateDescription& description) {
    auto state = std::make_unique<CpuState>();
    SOFFIT_TRY(const uint64_t bytes, state->lay_out(description));
    SOFFIT_TRY(state->memory_, Memory::allocate(bytes));
    state->place(state->memory_.data());
    return std::unique_ptr<State>(std::move(state));
  }

 private:
  Memory memory_;
};

}  // namespace soffit::cpu

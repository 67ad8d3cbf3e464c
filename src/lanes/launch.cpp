#include "lanes/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>

#include "core/concat.hpp"
#include "core/half.hpp"
#include "lanes/threadgroup.hpp"

namespace soffit::lanes {
namespace {

constexpr uint32_t kMostThreads = 1024;

template <class T>
void set(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void set_constant(const FunctionConstant& constant, const ConstantValue& value) {
  const double number = value.real ? value.number : double(value.integer);
  const int64_t integer = value.real ? int64_t(value.number) : value.integer;
  switch (constant.type) {
    case ConstantType::boolean:
      return set(constant.address, number != 0);
    case ConstantType::int8:
    case ConstantType::uint8:
      return set(constant.address, uint8_t(integer));
    case ConstantType::int16:
    case ConstantType::uint16:
      return set(constant.address, uint16_t(integer));
    case ConstantType::int32:
    case ConstantType::uint32:
      return set(constant.address, uint32_t(integer));
    case ConstantType::int64:
    case ConstantType::uint64:
      return set(constant.address, uint64_t(integer));
    case ConstantType::half:
      return set(constant.address, float_to_half(float(number)));
    case ConstantType::bfloat:
      return set(constant.address, float_to_bfloat(float(number)));
    case ConstantType::float32:
      return set(constant.address, float(number));
  }
}

Status check(const Library& library, const Kernel& kernel, const Launch& launch) {
  if (library.interface != kInterface) {
    return invalid_argument(concat(library.source, " was compiled for interface ", library.interface,
                                   " of the lane runner; this is ", kInterface));
  }
  const Position& t = launch.threadgroup;
  const uint64_t threads = uint64_t(t.x) * t.y * t.z, most = kernel.max_threads ? kernel.max_threads : kMostThreads;
  if (threads == 0 || threads > most) {
    return invalid_argument(
        concat("threadgroups of ", threads, " threads; kernel '", kernel.name, "' takes 1 to ", most));
  }
  if (uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z == 0)
    return invalid_argument("a grid without threadgroups");
  for (uint32_t p = 0; p < kernel.parameter_count; ++p) {
    const KernelParameter& parameter = kernel.parameters[p];
    if (parameter.kind == Parameter::buffer && !launch.buffers.contains(parameter.index)) {
      return invalid_argument(concat("nothing is bound to buffer ", parameter.index, ", '", parameter.name,
                                     "' of kernel '", kernel.name, "'"));
    }
    if (parameter.kind == Parameter::threadgroup && !launch.threadgroup_bytes.contains(parameter.index)) {
      return invalid_argument(concat("no size is given for threadgroup memory ", parameter.index, ", '", parameter.name,
                                     "' of kernel '", kernel.name, "'"));
    }
  }
  uint64_t memory = 0;
  for (const auto& [index, bytes] : launch.threadgroup_bytes) memory += bytes;
  if (memory > kThreadgroupMemory) {
    return invalid_argument(concat("threadgroup memory of ", memory, " bytes; a threadgroup has ", kThreadgroupMemory));
  }
  for (uint32_t c = 0; c < library.constant_count; ++c) {
    const FunctionConstant& constant = library.constants[c];
    if (!constant.optional && !launch.constants.contains(constant.index)) {
      return invalid_argument(concat("function constant ", constant.index, ", '", constant.name, "', has no value"));
    }
  }
  return {};
}

void set_constants(const Library& library, const Launch& launch) {
  for (uint32_t c = 0; c < library.constant_count; ++c) {
    const FunctionConstant& constant = library.constants[c];
    const auto value = launch.constants.find(constant.index);
    *constant.defined = value != launch.constants.end();
    if (*constant.defined) set_constant(constant, value->second);
  }
  if (library.set_derived_constants) library.set_derived_constants();
}

Position position(uint64_t number, Position grid) {
  return {uint32_t(number % grid.x), uint32_t(number / grid.x % grid.y), uint32_t(number / grid.x / grid.y)};
}

}  // namespace

const Kernel* find_kernel(const Library& library, std::string_view name) {
  for (uint32_t k = 0; k < library.kernel_count; ++k) {
    if (library.kernels[k].name == name) return &library.kernels[k];
  }
  return nullptr;
}

namespace {

// Threadgroups of a plain library, on several threads. Each has a state of its own; faults come together at the end.
Status run_on_threads(LaunchState& state, uint64_t groups) {
  const auto count = unsigned(std::min<uint64_t>(state.launch.threads, groups));
  std::vector<std::unique_ptr<LaunchState>> states;
  std::vector<std::unique_ptr<ThreadgroupRunner>> runners;
  for (unsigned t = 0; t < count; ++t) {
    states.push_back(std::make_unique<LaunchState>(state.library, state.kernel, state.launch));
    SOFFIT_TRY(runners.emplace_back(), ThreadgroupRunner::create(*states.back()));
  }
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> over = false;
  const auto work = [&](ThreadgroupRunner& runner) {
    for (uint64_t group; !over && (group = next++) < groups;) {
      if (!runner.run(position(group, state.launch.grid), uint32_t(group + 1))) over = true;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < count; ++t) threads.emplace_back(work, std::ref(*runners[t]));
  work(*runners[0]);
  for (std::thread& thread : threads) thread.join();
  for (const auto& part : states) {
    for (const Fault& fault : part->faults.list()) state.faults.add(fault);
  }
  return {};
}

Status run_in_order(LaunchState& state, uint64_t groups) {
  SOFFIT_TRY(const auto runner, ThreadgroupRunner::create(state));
  std::vector<uint64_t> order;
  if (state.launch.seed) {
    order.resize(groups);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937_64(*state.launch.seed));
  }
  for (uint64_t i = 0; i < groups; ++i) {
    const uint64_t group = order.empty() ? i : order[i];
    if (!runner->run(position(group, state.launch.grid), uint32_t(group + 1))) break;
  }
  return {};
}

void sum_slots(LaunchState& state) {
  const std::vector<bool> inner = state.nodes.inner();
  for (size_t i = 0; i < state.slots.size(); ++i) {
    state.counts.slots[i % kCosts] += state.slots[i];
    if (inner[i / kCosts]) state.counts.inner[i % kCosts] += state.slots[i];
  }
}

}  // namespace

Result<Outcome> run(const Library& library, const Kernel& kernel, const Launch& launch, const Watch& watch) {
  SOFFIT_CHECK(check(library, kernel, launch));
  // Function constants lie in the library's memory.
  static std::mutex one_at_a_time;
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  if (library.constant_count > 0) {
    lock.lock();
    set_constants(library, launch);
  }
  LaunchState state(library, kernel, launch);
  state.traced_simdgroups = watch.traced_simdgroups;
  state.trace_loads = watch.loads;
  const uint64_t groups = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  if (library.checked || launch.threads <= 1) {
    SOFFIT_CHECK(run_in_order(state, groups));
    sum_slots(state);
  } else {
    SOFFIT_CHECK(run_on_threads(state, groups));
  }
  return Outcome{state.faults.list(), state.faults.total(), state.counts, std::move(state.traces),
                 std::move(state.loads)};
}

}  // namespace soffit::lanes
